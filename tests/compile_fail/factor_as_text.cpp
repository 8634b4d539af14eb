// A numeric factor has to be a number or a std::chrono::duration; the diagnostic names the one that is not.
// expect: factor_as_text\.cpp:\d+:\d+:
// expect: this factor cannot be read from the record: numeric
// expect: string.* task::\*
#include <straggle/predict/factors.hpp>

#include <string>

struct task {
    std::string job;
    double input;
    std::string host;
};

void read() {
    using namespace straggle;
#ifdef STRAGGLE_CONTROL
    (void)predict::factor_reader_of<task>(
        predict::factors(predict::categorical(&task::job), predict::numeric(&task::input)));
#else
    (void)predict::factor_reader_of<task>(
        predict::factors(predict::categorical(&task::job), predict::numeric(&task::host)));
#endif
}
