# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Runs PROGRAM, which must succeed; what it prints must equal the file EXPECTED, if that exists.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status ECHO_OUTPUT_VARIABLE)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
if(EXISTS ${EXPECTED})
    file(READ ${EXPECTED} expected)
    if(NOT printed STREQUAL expected)
        message(FATAL_ERROR "expected was (${EXPECTED}):\n${expected}")
    endif()
endif()
