#include "widgets/choice_box.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(ChoiceBox, KnowsWhetherItsChoiceFits) {
    ChoiceBox box;
    box.addItem(u"RNN language model"_s);
    box.resize(400, 25);
    EXPECT_FALSE(box.isCut());
    box.resize(100, 25);
    EXPECT_TRUE(box.isCut());
    EXPECT_EQ(box.currentText(), u"RNN language model"_s);
}

}  // namespace
}  // namespace ui
