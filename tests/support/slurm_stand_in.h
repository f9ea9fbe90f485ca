#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "temp_folder.h"

namespace test_support {

/// Programs that stand in for Slurm's at the front of the PATH, which is set back at the end. Each
/// notes its arguments and gives the answer that it was set to. Settings of the user lie in a
/// folder of their own meanwhile, and the program is not from an AppImage.
class SlurmStandIn {
public:
    SlurmStandIn() : path_("PATH"), config_("XDG_CONFIG_HOME"), image_("APPIMAGE") {
        for (const char* program : {"sbatch", "squeue", "sacct", "scancel"}) {
            const std::string file = folder_.write(program, script);
            ::chmod(file.c_str(), 0755);
            answer(program, "");
        }
        ::setenv("PATH", (folder_.str() + ":" + path_.value).c_str(), 1);
        ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
        ::unsetenv("APPIMAGE");
    }

    void answer(const std::string& program, const std::string& output, int exit_code = 0,
                const std::string& errors = "") const {
        set(program + ".out", output);
        set(program + ".err", errors);
        set(program + ".code", std::to_string(exit_code));
    }
    /// A line for each call so far: "scancel [7]".
    std::string calls() const {
        std::ifstream in(folder_ / "calls");
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// It notes its call and never ends by itself.
    void hang(const std::string& program) const { set(program + ".hangs", ""); }
    /// A file that is no program lies in its place.
    void damage(const std::string& program) const {
        folder_.write(program, "\177ELF, cut short");
        ::setenv("PATH", folder_.str().c_str(), 1);
    }
    /// As on a machine without Slurm.
    void remove(const std::string& program) const {
        std::filesystem::remove(folder_ / program);
        ::setenv("PATH", folder_.str().c_str(), 1);
    }

private:
    /// At once, also for a program that runs now.
    void set(const std::string& name, const std::string& text) const {
        folder_.write(name + ".new", text);
        std::filesystem::rename(folder_ / (name + ".new"), folder_ / name);
    }

    static constexpr char script[] = R"SH(#!/bin/sh
here=${0%/*} name=${0##*/}
{ printf '%s' "$name"; for word; do printf ' [%s]' "$word"; done; echo; } >>"$here/calls"
[ -e "$here/$name.hangs" ] && exec sleep 1000
cat "$here/$name.err" >&2
cat "$here/$name.out"
exit "$(cat "$here/$name.code")"
)SH";
    /// A variable of the environment, set back at the end.
    struct Variable {
        explicit Variable(const char* its_name) : name(its_name) {
            const char* found = std::getenv(name);
            is_set = found != nullptr;
            if (is_set) value = found;
        }
        ~Variable() {
            if (is_set)
                ::setenv(name, value.c_str(), 1);
            else
                ::unsetenv(name);
        }
        Variable(const Variable&) = delete;
        Variable& operator=(const Variable&) = delete;

        const char* name;
        std::string value;
        bool is_set;
    };

    TempFolder folder_;
    Variable path_, config_, image_;
};

}  // namespace test_support
