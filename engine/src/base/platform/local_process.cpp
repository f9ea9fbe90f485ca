#include "base/platform/local_process.h"

#include <fstream>
#include <sstream>
#include <string>

namespace engine {

std::optional<ProcessStat> read_process_stat(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text, '\0');  // reports a process that ends meanwhile; iterators throw
    // "pid (name) state ...": the name may hold anything, so count from its last bracket.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    ProcessStat out;
    std::string skipped;
    fields >> out.state;
    for (int field = 4; field < 22; ++field) fields >> skipped;  // proc(5): starttime is field 22
    fields >> out.start;
    if (!fields) return std::nullopt;
    return out;
}

LocalProcess local_process(int pid) {
    const auto stat = read_process_stat(pid);
    return {pid, stat && !stat->has_ended() ? stat->start : 0};
}

bool LocalProcess::is_alive() const { return start != 0 && local_process(pid).start == start; }

}  // namespace engine
