#include "kernels/plan_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "kernels/thread_context.h"
#include "shared/environment.h"

namespace kernels {
namespace {

namespace fs = std::filesystem;

constinit thread_local LibraryContext context;
std::atomic<bool> races_allowed{true};
std::atomic<std::int64_t> races{0};

constexpr std::string_view first_line = "halftone measured plans 1";

std::atomic<PlanStore*> chosen{nullptr};

std::string checksum(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    std::array<char, 17> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + 16, hash, 16).ptr;
    return std::string(digits.data(), end);
}

/// Tabs and ends of lines separate the parts of the file.
std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return text;
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= line.size();) {
        const std::size_t end = std::min(line.find('\t', start), line.size());
        parts.push_back(line.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

/// While it lives, no other process has the lock of `file`. Where none can be had, two processes
/// may overwrite each other's newest entry, and no more.
class FileLock {
public:
    explicit FileLock(const fs::path& file)
        : descriptor_(::open((file.string() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC,
                             S_IRUSR | S_IWUSR)) {
        if (descriptor_ >= 0) static_cast<void>(::flock(descriptor_, LOCK_EX));
    }
    ~FileLock() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    bool held() const { return descriptor_ >= 0; }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

private:
    int descriptor_;
};

}  // namespace

PlanStore::Entries PlanStore::read() const {
    std::ifstream in(file_);
    std::string line;
    if (!std::getline(in, line) || line != first_line) return {};
    Entries entries;
    while (std::getline(in, line)) {
        const std::size_t tab = line.find('\t');
        if (tab == line.npos || in.eof()) return {};  // its last line ends with a line's end
        const std::string rest = line.substr(tab + 1);
        const std::vector<std::string> parts = split(rest);
        if (parts.size() != 3 || line.substr(0, tab) != checksum(rest)) return {};
        entries[parts[0]] = {parts[1], parts[2]};
    }
    return entries;
}

void PlanStore::write() const {
    const fs::path beside = file_.string() + "." + std::to_string(::getpid());
    std::ofstream out(beside, std::ios::trunc);
    out << first_line << '\n';
    for (const auto& [key, entry] : entries_) {
        const std::string rest = key + '\t' + entry.name + '\t' + entry.ms;
        out << checksum(rest) << '\t' << rest << '\n';
    }
    out.close();
    std::error_code ignored;
    if (out) fs::rename(beside, file_, ignored);
    if (!out || ignored) fs::remove(beside, ignored);
}

void PlanStore::read_once() {
    if (is_read_ || file_.empty()) return;
    entries_ = read();
    is_read_ = true;
}

std::optional<std::string> PlanStore::find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    read_once();
    const auto found = entries_.find(one_line(key));
    if (found == entries_.end()) return std::nullopt;
    return found->second.name;
}

bool PlanStore::add(const std::string& key, const Entry& own,
                    const std::optional<std::string>& outdated) {
    const auto [entry, is_new] = entries_.try_emplace(key, own);
    const bool replaces = !is_new && outdated && entry->second.name == one_line(*outdated);
    if (replaces) entry->second = own;
    return is_new || replaces;
}

std::string PlanStore::keep(const std::string& key, const std::string& name, double ms,
                            const std::optional<std::string>& outdated) {
    const std::lock_guard lock(mutex_);
    const Entry own{one_line(name), std::to_string(ms)};
    const std::string line = one_line(key);
    if (file_.empty()) {
        add(line, own, outdated);
        return entries_.at(line).name;
    }
    std::error_code ignored;
    fs::create_directories(file_.parent_path(), ignored);
    const FileLock others(file_);
    // Theirs first; ours that the file has lost meanwhile stay.
    Entries newest = read();
    newest.merge(entries_);
    entries_ = std::move(newest);
    is_read_ = true;
    if (add(line, own, outdated)) write();
    return entries_.at(line).name;
}

bool PlanStore::lasts() {
    const std::lock_guard lock(mutex_);
    if (file_.empty()) return false;
    std::error_code ignored;
    fs::create_directories(file_.parent_path(), ignored);
    return FileLock(file_).held();
}

std::size_t PlanStore::size() {
    const std::lock_guard lock(mutex_);
    read_once();
    return entries_.size();
}

fs::path default_plan_file() {
    const std::string cache = environment("XDG_CACHE_HOME");
    if (!cache.empty()) return fs::path(cache) / "halftone" / "measured-plans";
    const std::string home = environment("HOME");
    return home.empty() ? fs::path() : fs::path(home) / ".cache" / "halftone" / "measured-plans";
}

PlanStore& plan_store() {
    if (PlanStore* const set = chosen.load()) return *set;
    static auto* only = new PlanStore(default_plan_file());
    return *only;
}

void set_plan_store(PlanStore* store) noexcept { chosen = store; }

LibraryContext& LibraryContext::of_thread() noexcept { return context; }

PlanChoice plan_choice() noexcept {
    PlanChoice out = context.plans;
    out.measured = out.measured && races_allowed;
    return out;
}

bool plan_races_allowed() noexcept { return races_allowed; }
void allow_plan_races(bool allowed) noexcept { races_allowed = allowed; }

std::int64_t plan_races() noexcept { return races; }
void count_plan_race() noexcept { ++races; }

}  // namespace kernels
