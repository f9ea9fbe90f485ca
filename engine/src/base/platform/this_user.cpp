#include "base/platform/this_user.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace engine {
namespace {

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

}  // namespace

std::optional<UserAccount> own_account() {
    const passwd* user = ::getpwuid(::getuid());
    if (user == nullptr) return std::nullopt;
    const std::string about = text_or_empty(user->pw_gecos);
    return UserAccount{.name = text_or_empty(user->pw_name),
                       .full_name = about.substr(0, about.find(',')),
                       .home = text_or_empty(user->pw_dir)};
}

std::filesystem::path user_folder(const char* variable, const char* below_home) {
    const std::string given = text_or_empty(std::getenv(variable));
    if (given.starts_with('/')) return given;
    std::filesystem::path home = text_or_empty(std::getenv("HOME"));
    if (home.empty()) {
        const auto account = own_account();
        home = account ? account->home : "/";
    }
    return home / below_home;
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace engine
