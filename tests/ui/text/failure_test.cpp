#include "text/failure.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "engine/base/error.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(Failure, HasASentenceAndWhatToDo) {
    EXPECT_TRUE(Failure().isEmpty());
    EXPECT_EQ(Failure().text(), QString());
    const engine::Error error(engine::ErrorCode::io, engine::msg("{}: the disk is full", "a.csv"),
                              engine::msg("Free some space, or give another folder."));
    EXPECT_EQ(Failure(error).text(),
              u"a.csv: the disk is full Free some space, or give another folder."_s);
    EXPECT_EQ(Failure(std::runtime_error("bad")).text(), u"bad"_s);
    EXPECT_EQ(Failure(engine::msg("Cancelled.")).text(), u"Cancelled."_s);
}

}  // namespace
}  // namespace ui
