// Reports say which rule spoke.
// expect: mine
// expect: a detector needs a name
// expect: static constexpr std::string_view name
#include <straggle/detect/straggler_scan.hpp>

#include <string_view>
#include <vector>

#ifdef STRAGGLE_CONTROL
struct mine {
    static constexpr std::string_view name = "mine";
    straggle::detect::detection_note detect(straggle::detect::job_view const&,
                                            straggle::detect::detector_scratch&,
                                            std::vector<straggle::detect::finding>&) {
        return {};
    }
};
straggle::detect::straggler_scan scan{mine{}};
#else
struct mine {
    straggle::detect::detection_note detect(straggle::detect::job_view const&,
                                            straggle::detect::detector_scratch&,
                                            std::vector<straggle::detect::finding>&) {
        return {};
    }
};
straggle::detect::straggler_scan scan{mine{}};
#endif
