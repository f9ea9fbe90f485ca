#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/ops/op_script.h"
#include "scratch_file.h"
#include "tensor/memory/memory.h"

namespace {

using nlohmann::json;

/// The line with the names of its files replaced, so that a mutated name cannot reach other files.
std::string in_its_place(const std::string& line, const std::string& in, const std::string& out) {
    json parsed = json::parse(line, nullptr, false);
    if (!parsed.is_object()) return line;
    if (parsed.contains("in")) parsed["in"] = in;
    if (parsed.contains("out")) parsed["out"] = out;
    return parsed.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

/// Large tensors do not come from malloc, so the sanitizer does not bound them.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    engine::set_memory_limit(std::size_t{256} << 20);
    return 0;
}

// Input: a case of an op script, a newline, and the bytes of its input file. The answer is always
// one line of JSON with "out" or "error".
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile in("in"), out("out");
    const char* begin = reinterpret_cast<const char*>(data);
    const char* end = begin + size;
    const char* newline = std::find(begin, end, '\n');
    if (newline != end)
        in.write(newline + 1, static_cast<std::size_t>(end - newline - 1));
    else
        in.write("", 0);
    const std::string line =
        in_its_place({begin, newline}, in.path().string(), out.path().string());
    std::stringstream script(line + '\n'), answers;
    if (engine::run_op_script(script, answers) != 0) std::abort();
    std::string answer;
    if (!std::getline(answers, answer)) {
        if (line.find_first_not_of(" \t\r") != std::string::npos) std::abort();
        return 0;
    }
    const json parsed = json::parse(answer);
    if (parsed.contains("out") == parsed.contains("error")) std::abort();
    return 0;
}
