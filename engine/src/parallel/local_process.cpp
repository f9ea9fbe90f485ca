#include "parallel/local_process.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace engine {

LocalProcess local_process(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    // "pid (name) state ...": the name may hold anything, so count from its last bracket.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return {pid, 0};
    std::istringstream fields(text.substr(name_end + 1));
    std::string state, skipped;
    fields >> state;
    if (state == "Z" || state == "X") return {pid, 0};
    for (int field = 4; field < 22; ++field) fields >> skipped;  // proc(5): starttime is field 22
    std::uint64_t start = 0;
    fields >> start;
    return {pid, start};
}

bool LocalProcess::is_alive() const { return local_process(pid).start == start; }

}  // namespace engine
