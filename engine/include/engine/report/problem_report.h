#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// Replaces what tells of a person: whole names in texts that leave the machine.
class PrivacyFilter {
public:
    /// Names of this user and machine: home folders, user, host.
    static PrivacyFilter of_this_user();

    /// From now on, this text becomes `by`. Longer texts go before shorter ones. An absolute path
    /// takes what lies below it along, up to a quotation mark, a blank, or punctuation behind which
    /// a sentence goes on. Another text goes where it is a whole word: the user "max" leaves
    /// "maximum" as it is. Texts that every system has ("/", "/tmp", "root", "localhost") stay.
    void replace(std::string text, std::string by);
    std::string apply(std::string_view text) const;

private:
    struct Rule {
        std::string text, by;
    };
    std::vector<Rule> rules_;  ///< longest text first
};

/// One text of a problem report.
struct ProblemFile {
    std::string name;  ///< "events.jsonl"
    std::string text;
};

/// Facts that a report is made of beside those of the machine.
struct ProblemFacts {
    std::optional<std::filesystem::path> run_folder;  ///< the run that it is about
    std::optional<RunConfig> settings;                ///< where there is no run
    std::vector<std::string> log;                     ///< messages of the program, oldest first
    std::string toolkit;                              ///< version of the window's toolkit; may be empty
};

/// Versions, machine, and of a run its settings, last 200 events and last 200 steps. Holds no data,
/// no notes, no path of a home folder, no name of the user or the machine; data sets are named by
/// their kind. What a run lacks is left out.
std::vector<ProblemFile> problem_report(const ProblemFacts& facts,
                                        PrivacyFilter filter = PrivacyFilter::of_this_user());

/// Writes them as one zip archive. Throws Error(io).
void write_problem_report(const std::vector<ProblemFile>& files, const std::filesystem::path& file);

}  // namespace engine
