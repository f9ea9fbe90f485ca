#include "io/file/lease.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/platform/local_process.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view prefix = "lease.";
constexpr std::size_t longest = 4096;  ///< bytes of a lease's file
constexpr std::size_t max_host_size = 64;
constexpr std::int64_t max_number = std::int64_t{1} << 60;
constexpr int max_tries = 5;  ///< programs that take a lease at the same time

double seconds_of(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

LeaseRules standard_rules() {
    LeaseRules rules;
    rules.reader_clock = [] { return seconds_of(CLOCK_MONOTONIC); };
    rules.holder_clock = [] { return seconds_of(CLOCK_BOOTTIME); };
    return rules;
}

std::atomic<const LeaseRules*> replaced_rules{nullptr};

std::string first_line(const char* file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

bool is_alive(const LeaseHolder& holder) {
    if (::kill(static_cast<pid_t>(holder.process), 0) != 0 && errno == ESRCH) return false;
    const auto found = read_process_stat(holder.process);
    if (!found) return true;  // another user's, which this one may not see
    return !found->has_ended() && static_cast<std::int64_t>(found->start) == holder.started;
}

/// N of the name "lease.N"; 0 for other names, and for numbers that no counting reaches: the next
/// one would overflow.
std::int64_t number_in(const std::string& name) {
    if (!name.starts_with(prefix)) return 0;
    const auto number = to_number<std::int64_t>(std::string_view(name).substr(prefix.size()));
    return number && *number > 0 && *number < max_number ? *number : 0;
}

fs::path lease_file(const fs::path& folder, std::int64_t number) {
    return folder / (std::string(prefix) + std::to_string(number));
}

/// The numbers of the leases in a folder; nothing if it cannot be read.
std::optional<std::vector<std::int64_t>> numbers_in(const fs::path& folder) {
    std::vector<std::int64_t> out;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (const auto number = number_in(it->path().filename().string()); number > 0)
            out.push_back(number);
    }
    if (error) return std::nullopt;
    return out;
}

/// The beginning of a file; nothing, with errno, if it cannot be read.
std::optional<std::string> text_of(const fs::path& file) {
    const File opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.is_open()) return std::nullopt;
    std::string text(longest, '\0');
    const ssize_t got = ::read(opened.descriptor(), text.data(), text.size());
    if (got < 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(got));
    return text;
}

struct FoundLease {
    std::int64_t number = 0;  ///< 0: there is none
    std::string text;
    bool operator==(const FoundLease&) const = default;
};
FoundLease newest_in(const fs::path& folder) {
    for (int i = 0; i < max_tries; ++i) {
        const auto numbers = numbers_in(folder);
        if (!numbers || numbers->empty()) return {};
        const std::int64_t number = *std::ranges::max_element(*numbers);
        if (const auto text = text_of(lease_file(folder, number))) return {number, *text};
        if (errno != ENOENT) return {number, {}};  // it is there, and cannot be read
    }
    return {};
}

std::string text_field(const json& object, const char* name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::int64_t number_field(const json& object, const char* name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

/// 0 for what is no process: as a pid_t it would be another one.
std::int64_t process_field(const json& object) {
    const std::int64_t process = number_field(object, "process");
    return process > 0 && process <= std::numeric_limits<pid_t>::max() ? process : 0;
}
/// A name that may be printed: the file may come from anybody.
std::string host_name(std::string text) {
    const auto is_plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '.' || c == '-' || c == '_';
    };
    std::ranges::replace_if(
        text, [&](char c) { return !is_plain(c); }, '?');
    return text.substr(0, max_host_size);
}

struct WrittenLease {
    std::string id;
    LeaseHolder holder;
    std::string activity = {}, answered = {};
};
/// Empty fields where the text is not that of a lease.
WrittenLease parse_lease(const std::string& text) {
    const json object = read_json(text, {.bytes = std::size_t{4} << 10, .depth = 2});
    if (!object.is_object()) return {};
    return {text_field(object, "id"),
            {.host = host_name(text_field(object, "host")),
             .boot = text_field(object, "boot"),
             .pid_namespace = number_field(object, "pid_namespace"),
             .process = process_field(object),
             .started = number_field(object, "started")},
            text_field(object, "activity"),
            text_field(object, "answered")};
}

std::string lease_text(const std::string& id, const LeaseHolder& holder, std::int64_t renewals = 0,
                       const std::string& activity = {}, const std::string& answered = {}) {
    json object = {{"id", id},
                   {"host", holder.host},
                   {"boot", holder.boot},
                   {"pid_namespace", holder.pid_namespace},
                   {"process", holder.process},
                   {"started", holder.started},
                   {"renewals", renewals}};
    if (!activity.empty()) object["activity"] = activity;
    if (!answered.empty()) object["answered"] = answered;
    return dumped(object) + "\n";
}

/// Whether the holder is a process that this one can look up itself.
bool is_beside(const LeaseHolder& holder, const LeaseHolder& self) {
    return !holder.boot.empty() && holder.boot == self.boot && holder.process > 0 &&
           holder.pid_namespace != 0 && holder.pid_namespace == self.pid_namespace;
}

LeaseState evaluate(const FoundLease& found, LeaseSighting& seen, const LeaseRules& rules) {
    if (found.number == 0) {
        seen = {};
        return {};
    }
    const WrittenLease written = parse_lease(found.text);
    const LeaseHolder& holder = written.holder;
    const LeaseHolder self = rules.self();
    LeaseState out{.present = true,
                   .held = true,
                   .process = holder.process,
                   .id = written.id,
                   .activity = written.activity,
                   .answered = written.answered};
    if (is_beside(holder, self)) {
        seen = {};
        out.held = is_alive(holder);
        return out;
    }
    const double now = rules.reader_clock();
    LeaseSighting sighted{std::to_string(found.number) + " " + found.text, self.boot, now};
    const bool same = seen.content == sighted.content && seen.boot == sighted.boot;
    if (!same || seen.since > now) seen = std::move(sighted);
    out.host = holder.host.empty() ? "?" : holder.host;  // "?": it is being written, or damaged
    out.silent_s = now - seen.since;
    out.held = out.silent_s < rules.patience.count();
    return out;
}

/// 0 or the errno. It is closed here, since a network file system reports some failures only then.
int write_text(const fs::path& file, int flags, const std::string& text) {
    const File made = open_private(file, O_WRONLY | flags);
    if (!made.is_open()) return errno;
    const ssize_t written = ::write(made.descriptor(), text.data(), text.size());
    if (written < 0) return errno;
    if (written != static_cast<ssize_t>(text.size())) return ENOSPC;
    const int copy = ::dup(made.descriptor());
    return copy >= 0 && ::close(copy) != 0 ? errno : 0;
}

void unlink_file(const fs::path& file) { ::unlink(file.c_str()); }

}  // namespace

std::string random_id() {
    std::random_device source;
    std::ostringstream out;
    out << std::hex;
    for (int i = 0; i < 4; ++i) out << source();
    return out.str();
}

LeaseHolder LeaseHolder::self() {
    static const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
    LeaseHolder out{.boot = boot, .process = ::getpid()};
    std::array<char, 256> text{};
    if (::gethostname(text.data(), text.size() - 1) == 0) out.host = text.data();
    text = {};
    if (::readlink("/proc/self/ns/pid", text.data(), text.size() - 1) > 0) {
        const std::string_view link = text.data();  // pid:[4026531836]
        const std::size_t begin = link.find('[') + 1;
        std::from_chars(link.data() + begin, link.data() + link.size(), out.pid_namespace);
    }
    if (const auto stat = read_process_stat(out.process))
        out.started = static_cast<std::int64_t>(stat->start);
    return out;
}

const LeaseRules& LeaseRules::standard() {
    static const LeaseRules rules = standard_rules();
    const LeaseRules* replaced = replaced_rules;
    return replaced != nullptr ? *replaced : rules;
}

void LeaseRules::replace(const LeaseRules* rules) { replaced_rules = rules; }

LeaseState look_at_lease(const fs::path& folder, LeaseSighting& seen, const LeaseRules& rules) {
    return evaluate(newest_in(folder), seen, rules);
}

std::unique_ptr<Lease> Lease::try_take(const fs::path& folder, LeaseSighting& seen,
                                       LeaseState& state, const LeaseRules& rules) {
    for (int i = 0; i < max_tries; ++i) {
        const FoundLease before = newest_in(folder);
        state = evaluate(before, seen, rules);
        if (state.held) return nullptr;
        const std::int64_t number = before.number + 1;
        const fs::path file = lease_file(folder, number);
        const std::string id = random_id();
        const double now = rules.holder_clock();
        const int failure = write_text(file, O_CREAT | O_EXCL, lease_text(id, rules.self()));
        if (failure != 0) {
            // Some servers have no error of its own for a file that is there.
            if (newest_in(folder).number >= number) continue;
            throw_write_error(file, failure);
        }
        // Between the look and the file another program may have come and gone, or the holder that
        // was given up may have woken: then nobody may rely on what was seen.
        const bool is_ours = parse_lease(newest_in(folder).text).id == id;
        const bool same = before.number == 0 ||
                          text_of(lease_file(folder, before.number)) == std::optional(before.text);
        if (!is_ours || !same) {
            unlink_file(file);
            continue;
        }
        for (const std::int64_t old : numbers_in(folder).value_or(std::vector<std::int64_t>{}))
            if (old < number) unlink_file(lease_file(folder, old));
        return std::unique_ptr<Lease>(new Lease(folder, number, id, rules, now));
    }
    state.held = true;
    if (state.host.empty()) state.host = "?";
    return nullptr;
}

Lease::Lease(fs::path folder, std::int64_t number, std::string id, const LeaseRules& rules,
             double taken)
    : folder_(std::move(folder)),
      number_(number),
      id_(std::move(id)),
      rules_(rules),
      renewed_at_(taken),
      thread_([this] { run(); }) {}

Lease::~Lease() { release(); }

fs::path Lease::file() const { return lease_file(folder_, number_); }

void Lease::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait_for(lock, rules_.renewal, [this] { return ending_ || has_news_; });
        if (ending_) return;
        has_news_ = false;
        renew();
    }
}

void Lease::show(const std::string& activity) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(activity_, activity) == activity) return;
    has_news_ = true;
    changed_.notify_all();
}

void Lease::answer(const std::string& request) {
    const std::lock_guard lock(mutex_);
    answered_ = request;
    has_news_ = true;
    changed_.notify_all();
}

/// Requires the mutex. The file is looked at before it is replaced, and again where the program
/// slept in between: the other program that took the lease then would not find it any more.
Lease::Standing Lease::renew() {
    if (lost_) return Standing::lost;
    const double began = rules_.holder_clock();
    const fs::path part = file().string() + ".part";
    const bool written =
        write_text(part, O_TRUNC, lease_text(id_, rules_.self(), renewals_ + 1, activity_, answered_)) == 0;
    const Standing now = standing();
    if (now == Standing::lost) lose();
    if (now != Standing::ours || !written || ::rename(part.c_str(), file().c_str()) != 0) {
        unlink_file(part);
        return now;  // on a full disk it is ours as long as nobody takes it
    }
    ++renewals_;
    if (rules_.holder_clock() - began > rules_.trust.count()) {
        lose();
        unlink_file(file());
        return Standing::lost;
    }
    renewed_at_ = began;
    return Standing::ours;
}

Lease::Standing Lease::standing() const {
    const auto text = text_of(file());
    if (!text) {
        std::error_code error;
        const bool gone = errno == ENOENT && fs::is_directory(folder_, error);
        return gone ? Standing::lost : Standing::unknown;  // a folder that is gone says nothing
    }
    if (parse_lease(*text).id != id_) return Standing::lost;
    const auto numbers = numbers_in(folder_);
    if (!numbers) return Standing::unknown;
    return *std::ranges::max_element(*numbers) > number_ ? Standing::lost : Standing::ours;
}

void Lease::lose() { lost_.store(true, std::memory_order_release); }

void Lease::check() {
    if (is_lost()) throw_lost();
    const auto is_trusted = [this] {
        return rules_.holder_clock() - renewed_at_ <= rules_.trust.count();
    };
    if (is_trusted()) return;
    const std::lock_guard lock(mutex_);
    if (released_ || (!is_lost() && is_trusted())) return;
    switch (renew()) {
        case Standing::ours:
            return;
        case Standing::lost:
            throw_lost();
        case Standing::unknown:
            throw Error(ErrorCode::io,
                        msg("{}: cannot be read, so another program may have taken over this run",
                            folder_.string()),
                        msg("Check the connection to that folder; then resume the run."));
    }
}

void Lease::throw_lost() const {
    const LeaseHolder holder = parse_lease(newest_in(folder_).text).holder;
    if (holder.process == 0) {
        throw Error(ErrorCode::state,
                    msg("{}: another program has taken over this run, or removed its lease; "
                        "nothing more is written here",
                        folder_.string()),
                    msg("Resume the run if it should go on."));
    }
    throw Error(ErrorCode::state,
                msg("{}: process {} on {} has taken over this run; nothing more is written here",
                    folder_.string(), holder.process, holder.host),
                msg("The run goes on there."));
}

void Lease::release() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(released_, true)) return;
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
    if (!is_lost() && parse_lease(text_of(file()).value_or("")).id == id_) unlink_file(file());
}

}  // namespace engine
