#include "runs/cluster/job_script.h"

#include <algorithm>
#include <functional>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/cluster.h"

namespace engine {
namespace {

/// A signal interrupts the shell's wait, so it waits again until the run has ended.
constexpr char default_script[] = R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=08:00:00
#SBATCH --no-requeue
#SBATCH --signal=B:USR1@120
##SBATCH --partition=gpu
##SBATCH --gres=gpu:1
##SBATCH --cpus-per-task=8
##SBATCH --mem=32G

# Lines with one more # are off. What the node needs, such as: module load cuda

# Two minutes before the time is over the run saves a checkpoint and ends.
# A job that is cancelled signals the run itself, which a second signal
# would end at once.
run= early=
trap 'if [[ $run ]]; then kill -USR1 "$run"; else early=1; fi' USR1
trap : TERM
{{program}} {{arguments}} &
run=$!
if [[ $early ]]; then kill -USR1 "$run"; fi
wait "$run"; code=$?
while kill -0 "$run" 2>/dev/null; do wait "$run"; code=$?; done
exit "$code"
)";

std::string in_braces(const std::string& name) { return "{{" + name + "}}"; }

/// Calls f(text) for what stands between placeholders and g(name) for each of these.
void for_each_part(const std::string& script, const std::function<void(const std::string&)>& text,
                   const std::function<void(const std::string&)>& placeholder) {
    std::size_t at = 0;
    for (;;) {
        const std::size_t open = script.find("{{", at);
        const std::size_t close = open == std::string::npos ? open : script.find("}}", open);
        text(script.substr(at, close == std::string::npos ? close : open - at));
        if (close == std::string::npos) return;
        placeholder(script.substr(open + 2, close - open - 2));
        at = close + 2;
    }
}

std::string value_of(const std::string& name, const JobScriptValues& values) {
    if (name == "program") return shell_quoted(values.program);
    if (name == "arguments") return join(values.arguments, " ", shell_quoted);
    if (name == "name") return shell_quoted(values.name);
    if (name == "folder") return shell_quoted(values.folder);
    return shell_quoted(values.run_folder);
}

}  // namespace

std::vector<ScriptPlaceholder> script_placeholders() {
    return {{"program", msg("The path of Halftone on this machine.")},
            {"arguments", msg("What Halftone has to do, for example train SETTINGS --out FOLDER.")},
            {"name", msg("The name of the job.")},
            {"folder", msg("The folder of the job, with settings, script and output.")},
            {"run", msg("The folder of the run, which Halftone makes.")}};
}

std::string default_job_script() { return default_script; }

std::string shell_quoted(const std::string& word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "_-./=,:@%+";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string out = "'";
    for (const char letter : word) {
        if (letter == '\'')
            out += "'\\''";
        else
            out += letter;
    }
    return out + "'";
}

Message job_script_problem(const std::string& script) {
    if (!script.starts_with("#!"))
        return msg("The script has to begin with its shell, for example {}.", "#!/bin/bash");
    const auto known = script_placeholders();
    bool trains = false;
    std::string unknown;
    for_each_part(
        script, [](const std::string&) {},
        [&](const std::string& name) {
            trains = trains || name == "arguments";
            const bool is_known = std::ranges::any_of(
                known, [&](const ScriptPlaceholder& each) { return each.name == name; });
            if (!is_known && unknown.empty()) unknown = in_braces(name);
        });
    if (!unknown.empty()) return msg("The script has {}, which stands for nothing.", unknown);
    if (!trains)
        return msg("The script lacks {}, so the job would train nothing.", in_braces("arguments"));
    return {};
}

std::string fill_job_script(const std::string& script, const JobScriptValues& values) {
    if (const Message problem = job_script_problem(script); !problem.empty())
        throw Error(ErrorCode::settings, problem,
                    msg("Change {}, or delete it for the default.", job_script_file().string()));
    std::string out;
    for_each_part(
        script, [&](const std::string& text) { out += text; },
        [&](const std::string& name) { out += value_of(name, values); });
    return out;
}

}  // namespace engine
