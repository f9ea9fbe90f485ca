#include "engine/report/problem_report.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <system_error>

#include "base/platform/this_user.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/base/version.h"
#include "engine/number/figure_text.h"
#include "engine/runs/run_store.h"
#include "engine/settings/catalog.h"
#include "engine/train/machine.h"
#include "io/zip/zip.h"
#include "record/event_json.h"
#include "runs/event_file.h"
#include "runs/run_folder.h"
#include "settings/config_fields.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_events = 200;
constexpr std::int64_t most_steps = 200;

bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
}

/// Where a path ends that begins before `at`.
std::size_t end_of_path(std::string_view text, std::size_t at) {
    for (; at < text.size(); ++at) {
        const char c = text[at];
        const bool goes_on = at + 1 < text.size() && in_word(text[at + 1]);
        if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '\\') break;
        if ((c == ':' || c == ',' || c == ';' || c == ')' || c == '.') && !goes_on) break;
    }
    return at;
}

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

/// Words that settings are made of: a user of such a name cannot be told from them.
bool is_of_the_settings(const std::string& word) {
    return find_kind(models(), word) != nullptr || find_kind(datasets(), word) != nullptr ||
           find_kind(optimizers(), word) != nullptr;
}

std::string versions(const std::string& toolkit) {
    utsname system{};
    uname(&system);
    std::string out = "Halftone " + version_and_commit() + '\n';
    out += std::string(system.sysname) + ' ' + system.release + ' ' + system.machine + '\n';
    out += std::string("glibc ") + gnu_get_libc_version() + '\n';
    std::ifstream release("/etc/os-release");
    for (std::string line; std::getline(release, line);) {
        if (!line.starts_with("PRETTY_NAME=")) continue;
        std::erase(line, '"');
        out += line.substr(line.find('=') + 1) + '\n';
    }
    if (!toolkit.empty()) out += toolkit + '\n';
    return out;
}

std::string machine_text() {
    const MachineReport machine = inspect_machine();
    std::string out = "processor: " + machine.cpu + ", " + std::to_string(machine.cores) +
                      " cores, " + bytes_text(machine.memory_bytes) + '\n';
    out += "instructions: " + join(machine.features, " ") + "; in use: " + machine.cpu_level + '\n';
    out += "oneDNN: " + machine.onednn + '\n';
    out += "CUDA: " + machine.cuda_note.str() + ' ' + machine.cuda_driver + '\n';
    for (const auto& card : machine.cards)
        out += "card: " + card.name + ", " + card.capability + ", " +
               bytes_text(card.memory_bytes) + '\n';
    for (const auto& library : machine.libraries)
        out += "library: " + library.name + ' ' +
               (library.found ? library.version + " (" + library.path + ")" : library.problem) +
               '\n';
    return out;
}

/// The last events as `--json` prints them.
std::string events_text(const fs::path& run_folder) {
    std::deque<std::string> last;
    EventFile(run_folder).for_each([&](Event&& event) {
        last.push_back(to_json_line(event) + '\n');
        if (last.size() > most_events) last.pop_front();
    });
    return join(last, "");
}

/// The last steps, as `--json` prints them.
std::string steps_text(const fs::path& run_folder) {
    const auto record = StepRecordReader::open(run_folder);
    const auto started = last_start(run_folder);
    const std::vector<Metric> metrics = started ? started->step_metrics : classification_metrics();
    std::string out;
    for (std::int64_t row = std::max<std::int64_t>(0, record.size() - most_steps);
         row < record.size(); ++row)
        out += to_json_line("", record.row(row), metrics) + '\n';
    return out;
}

/// The paths of a run, as names that say what lay there.
void hide_paths(RunConfig config, PrivacyFilter& filter) {
    const auto hide = [&filter](const fs::path& path, const std::string& name) {
        filter.replace(path.string(), name);
        filter.replace(path.filename().string(), name);
    };
    for (const std::string& path : config.dataset.path)
        hide(path, "<data set " + config.dataset.kind + ">");
    hide(config.model.init_from, "<weights>");
    for_each_path(config, [&](const std::string& path) { hide(path, "<file>"); });
}

}  // namespace

PrivacyFilter PrivacyFilter::of_this_user() {
    PrivacyFilter out;
    out.replace(environment("HOME"), "~");
    out.replace(environment("XDG_DATA_HOME"), "<data folder>");
    const std::string host = host_name();
    for (const std::string& each : {host, host.substr(0, host.find('.'))})
        if (!is_of_the_settings(each)) out.replace(each, "<host>");
    std::vector<std::string> users{environment("USER"), environment("LOGNAME")};
    if (const auto account = own_account()) {
        out.replace(account->home.string(), "~");
        users.push_back(account->name);
        out.replace(account->full_name, "<user>");
    }
    for (const std::string& user : users)
        if (!is_of_the_settings(user)) out.replace(user, "<user>");
    return out;
}

void PrivacyFilter::replace(std::string text, std::string by) {
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    for (const char* usual : {"", "/", "/tmp", "root", "localhost"})
        if (text == usual) return;
    rules_.push_back({std::move(text), std::move(by)});
    std::ranges::stable_sort(rules_, std::greater(), [](const Rule& rule) { return rule.text.size(); });
}

std::string PrivacyFilter::apply(std::string_view text) const {
    std::string out(text);
    for (const Rule& rule : rules_) {
        for (std::size_t at = out.find(rule.text); at != std::string::npos;
             at = out.find(rule.text, at)) {
            std::size_t end = at + rule.text.size();
            const bool is_path = rule.text.front() == '/';
            const bool inside = (!is_path && at > 0 && in_word(out[at - 1])) ||
                                (end < out.size() && in_word(out[end]));
            if (inside) {
                at = end;
                continue;
            }
            if (is_path && end < out.size() && out[end] == '/') end = end_of_path(out, end);
            out.replace(at, end - at, rule.by);
            at += rule.by.size();
        }
    }
    return out;
}

std::vector<ProblemFile> problem_report(const ProblemFacts& facts, PrivacyFilter filter) {
    std::vector<ProblemFile> out{{"versions.txt", versions(facts.toolkit)},
                                 {"machine.txt", machine_text()}};
    const auto add = [&](const char* name, const auto& text) {
        try {
            out.push_back({name, text()});
        } catch (const Error& error) {  // a damaged run is a reason for a report
            out.push_back({std::string(name) + ".problem.txt", error.message().str() + '\n'});
        }
        if (out.back().text.empty()) out.pop_back();
    };
    if (facts.settings) {
        hide_paths(*facts.settings, filter);
        add("settings.json", [&] { return to_json(*facts.settings); });
    }
    if (facts.run_folder) {
        const fs::path& folder = *facts.run_folder;
        std::error_code error;
        filter.replace(fs::absolute(folder, error).string(), "<run>");
        filter.replace(fs::canonical(folder, error).string(), "<run>");
        const std::string settings = read_text(folder / config_file);
        hide_paths(parse_run_config(settings).config, filter);
        add("settings.json", [&] { return settings; });
        add("events.jsonl", [&] { return events_text(folder); });
        add("steps.jsonl", [&] { return steps_text(folder); });
    }
    add("log.txt", [&] { return join(facts.log, "\n"); });
    for (ProblemFile& file : out) file.text = filter.apply(file.text);
    return out;
}

void write_problem_report(const std::vector<ProblemFile>& files, const fs::path& file) {
    ZipWriter zip(file);
    for (const ProblemFile& each : files) zip.add_text(each.name, each.text);
    zip.commit();
}

}  // namespace engine
