#include "base/platform/this_user.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace engine {
namespace {

/// Sets a variable, or removes it (null), for the object's life.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        if (value != nullptr)
            setenv(name, value, 1);
        else
            unsetenv(name);
    }
    ~Variable() {
        if (before_)
            setenv(name_, before_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST(UserFolder, IsThatOfTheVariableIfItIsAnAbsolutePath) {
    const Variable home("HOME", "/home/someone");
    {
        const Variable given("HALFTONE_TEST_FOLDER", "/elsewhere");
        EXPECT_EQ(user_folder("HALFTONE_TEST_FOLDER", ".config"), "/elsewhere");
    }
    for (const char* value : {static_cast<const char*>(nullptr), "", "relative"}) {
        const Variable given("HALFTONE_TEST_FOLDER", value);
        EXPECT_EQ(user_folder("HALFTONE_TEST_FOLDER", ".config"), "/home/someone/.config");
    }
}

TEST(UserFolder, WithoutAHomeInTheEnvironmentIsInTheAccounts) {
    const auto account = own_account();
    for (const char* value : {static_cast<const char*>(nullptr), ""}) {
        const Variable home("HOME", value);
        EXPECT_EQ(user_folder("HALFTONE_TEST_FOLDER", ".config"),
                  (account ? account->home : "/") / ".config");
    }
}

TEST(ThisUser, HasANameOnThisMachine) {
    EXPECT_FALSE(host_name().empty());
    const auto account = own_account();
    if (!account) GTEST_SKIP() << "this system has no entry for the user";
    EXPECT_FALSE(account->name.empty());
    EXPECT_EQ(account->full_name.find(','), std::string::npos);
}

}  // namespace
}  // namespace engine
