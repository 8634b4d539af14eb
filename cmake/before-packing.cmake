# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# CPack runs this when the files of a package lie ready in a folder.
set(files ${CPACK_TEMPORARY_DIRECTORY})

# Debian looks for license and changes of a package in share/doc, in forms of its own.
if(CPACK_GENERATOR STREQUAL "DEB")
    set(share ${files}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
    file(MAKE_DIRECTORY ${share}/doc/${CPACK_DEBIAN_PACKAGE_NAME})
    set(doc ${share}/doc/${CPACK_DEBIAN_PACKAGE_NAME})
    string(TIMESTAMP year "%Y" UTC)
    string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
    file(READ ${share}/licenses/straggle/LICENSE license)
    string(STRIP "${license}" license)
    string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
    string(REPLACE "\n" "\n " license "${license}")
    file(WRITE ${doc}/copyright "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: straggle
Source: https://github.com/straggle-authors/straggle

Files: *
Copyright: ${year} the straggle authors
License: BSL-1.0
 ${license}
")
    file(WRITE ${doc}/changelog "\
${CPACK_DEBIAN_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
    # Without a name and a time in it, so that the package is the same whenever it is made.
    execute_process(COMMAND gzip -9n ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${share}/licenses)
endif()

# Folders are made with the umask of whoever packs; everybody is to read them.
set(everybody OWNER_READ GROUP_READ WORLD_READ)
file(CHMOD_RECURSE ${files}
     FILE_PERMISSIONS ${everybody} OWNER_WRITE
     DIRECTORY_PERMISSIONS ${everybody} OWNER_WRITE OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
file(GLOB programs ${files}${CPACK_PACKAGING_INSTALL_PREFIX}/bin/*)
if(programs)
    file(CHMOD ${programs} PERMISSIONS ${everybody} OWNER_WRITE OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
endif()
