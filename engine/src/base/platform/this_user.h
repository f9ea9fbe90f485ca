#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace engine {

/// The account of the user that runs the program.
struct UserAccount {
    std::string name, full_name;
    std::filesystem::path home;
};
/// Empty where the system has no entry for the user, as in some containers.
std::optional<UserAccount> own_account();

/// The user's folder for one kind of file: that in the environment variable, if it is an absolute
/// path, or else `below_home` below $HOME, or without $HOME below the account's home folder.
/// Source: XDG Base Directory Specification.
std::filesystem::path user_folder(const char* variable, const char* below_home);

/// This machine's name; empty if it cannot be read.
std::string host_name();

}  // namespace engine
