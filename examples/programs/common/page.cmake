# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Puts a page into a program, see page.hpp: what common/page has for all, and the files of the program.
#
#   straggle_add_page(TARGET page=FILE name=FILE+FILE...)
#
# The part `page` is the HTML. D3 version 3 is there by itself; without it the program is built without --report.
include_guard(GLOBAL)
set(straggle_page_folder ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Where page.cmake is")

find_file(STRAGGLE_D3 NAMES d3.min.js PATHS /usr/share /usr/local/share PATH_SUFFIXES javascript/d3
          DOC "D3 version 3, minified")
mark_as_advanced(STRAGGLE_D3)

function(straggle_add_page target)
    set(d3 "")
    if(STRAGGLE_D3)
        file(STRINGS ${STRAGGLE_D3} d3_version REGEX "version:\"3\\." LIMIT_COUNT 1)
        if(d3_version)
            set(d3 ${STRAGGLE_D3})
        endif()
    endif()
    if(NOT d3)
        message(STATUS "${target} is built without --report: it needs D3 version 3 (Debian: libjs-d3).")
    endif()

    set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}-page.cpp)
    set(folder ${straggle_page_folder})
    set(files ${ARGN})
    list(TRANSFORM files REPLACE "^[a-z]+=" "")
    string(REPLACE "+" ";" files "${files}")
    list(JOIN ARGN "|" parts)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D D3=${d3} -D PAGE_HEADER=${folder}/page.hpp
                -D "PARTS=${parts}" -P ${folder}/page/embed.cmake
        DEPENDS ${files} ${d3} ${folder}/page/embed.cmake ${folder}/page/d3-license.txt
        VERBATIM)
    target_sources(${target} PRIVATE ${output} ${folder}/page.cpp)
endfunction()
