# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# CPack runs this when the files of a package lie ready in a folder.
set(files ${CPACK_TEMPORARY_DIRECTORY})

# Debian looks for the licence of a package in share/doc.
if(CPACK_GENERATOR STREQUAL "DEB")
    set(share ${files}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
    file(MAKE_DIRECTORY ${share}/doc/${CPACK_DEBIAN_PACKAGE_NAME})
    file(RENAME ${share}/licenses/straggle/LICENSE ${share}/doc/${CPACK_DEBIAN_PACKAGE_NAME}/copyright)
    file(REMOVE_RECURSE ${share}/licenses)
endif()

# Folders are made with the umask of whoever packs; everybody is to read them.
set(everybody OWNER_READ GROUP_READ WORLD_READ)
file(CHMOD_RECURSE ${files}
     FILE_PERMISSIONS ${everybody} OWNER_WRITE
     DIRECTORY_PERMISSIONS ${everybody} OWNER_WRITE OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
