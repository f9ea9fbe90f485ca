#pragma once

#include <string>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// Values of the placeholders of a template.
struct JobScriptValues {
    std::string name;                    ///< of the job
    std::string program;                 ///< path of this program
    std::vector<std::string> arguments;  ///< for it
    std::string folder;                  ///< of the job
    std::string run_folder;
};

/// Empty for a template that can be used.
Message job_script_problem(const std::string& script);

/// The batch script: placeholders replaced, each value quoted for the shell. Throws Error(settings)
/// for a template that cannot be used.
std::string fill_job_script(const std::string& script, const JobScriptValues& values);

/// A word as the shell reads it back.
std::string shell_quoted(const std::string& word);

}  // namespace engine
