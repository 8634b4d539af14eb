# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Read by ctest when it starts: makes every test case of a doctest program a test of its own. (The function that comes
# with doctest 2.4.9 writes a broken file for names with a bracket or a semicolon, and a filter that matches no test
# case passes.) A test case has one line in the output, and lists of CMake are of no use for any text: hence the loop.
function(straggle_discover_tests room program)
    execute_process(COMMAND ${program} --list-test-cases --no-colors=true OUTPUT_VARIABLE rest RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        add_test("${room}: ${program} cannot list its tests" ${program})
        return()
    endif()
    string(FIND "${rest}" "\n" length)
    while(length GREATER_EQUAL 0)
        string(SUBSTRING "${rest}" 0 ${length} name)
        math(EXPR length "${length} + 1")
        string(SUBSTRING "${rest}" ${length} -1 rest)
        if(NOT name MATCHES "^(===|\\[doctest\\] )")
            string(REGEX REPLACE "([\\,])" "\\\\\\1" filter "${name}")
            add_test("${room}: ${name}" "${program}" "--test-case=${filter}")
            set_tests_properties("${room}: ${name}" PROPERTIES LABELS ${room} TIMEOUT 300
                                 FAIL_REGULAR_EXPRESSION "test cases: +0 ")
        endif()
        string(FIND "${rest}" "\n" length)
    endwhile()
endfunction()
