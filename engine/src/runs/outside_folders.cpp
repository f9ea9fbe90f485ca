#include "runs/outside_folders.h"

#include <set>
#include <sstream>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "io/file/atomic_file.h"
#include "runs/run_folder.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

std::string line_of(const fs::path& folder) {
    const json object = {{"folder", folder.string()}};
    return dumped(object) + "\n";
}

}  // namespace

void OutsideFolders::add(const std::vector<fs::path>& folders) {
    std::set<fs::path> listed;
    for (fs::path& folder : all()) listed.insert(std::move(folder));
    std::string text;
    for (const fs::path& folder : folders) {
        if (folder.parent_path() != root_ && listed.insert(folder).second) text += line_of(folder);
    }
    if (text.empty()) return;
    try {
        append_lines(file(), text);
    } catch (const Error&) {
    }
}

void OutsideFolders::remove(const fs::path& folder) {
    std::vector<fs::path> listed = all();
    if (std::erase(listed, folder) == 0) return;
    std::string text;
    for (const fs::path& other : listed) text += line_of(other);
    try {
        write_file(file(), text);
    } catch (const Error&) {  // a folder that is gone is left out of every list
    }
}

std::vector<fs::path> OutsideFolders::all() const {
    std::vector<fs::path> out;
    std::set<fs::path> listed;
    std::istringstream lines(read_text(file()));
    for (std::string line; std::getline(lines, line);) {
        const json object = read_json(line);
        if (!object.is_object()) continue;
        const auto folder = object.find("folder");
        if (folder == object.end() || !folder->is_string()) continue;
        fs::path path = folder->get<std::string>();
        if (path.is_absolute() && listed.insert(path).second) out.push_back(std::move(path));
    }
    return out;
}

}  // namespace engine
