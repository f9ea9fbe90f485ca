#include "network/network_model.h"

#include <gtest/gtest.h>

#include <QTest>
#include <QTextCursor>

namespace ui {
namespace {

struct NetworkModelTest : testing::Test {
    NetworkModel model{{}, nullptr};

    bool settles() {
        return QTest::qWaitFor([this] { return !model.isChecking() && model.now().text == model.text(); }, 30'000);
    }
};

TEST_F(NetworkModelTest, ChecksTheNewestTextAndKeepsTheLastGoodOne) {
    model.setText(u"network(image):\n  Flatten\n  fc: Linear(outputs)\n"_s);
    ASSERT_TRUE(settles());
    EXPECT_FALSE(model.isStale());
    const QString good = model.text();
    QTextCursor cursor(model.document());
    cursor.setPosition(static_cast<int>(good.indexOf(u"Linear"_s)));
    cursor.movePosition(QTextCursor::Right, QTextCursor::KeepAnchor, 6);
    cursor.insertText(u"Dense"_s);
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model.isStale());
    EXPECT_EQ(model.good().text, good);
    EXPECT_EQ(model.good().network.rows.size(), 2u);
    ASSERT_EQ(model.faults().size(), 1u);
}

TEST_F(NetworkModelTest, AReplacementIsOneStepOfUndo) {
    model.setText(u"network(image):\n  Flatten\n  fc: Liner(outputs)\n"_s);
    ASSERT_TRUE(settles());
    ASSERT_EQ(model.faults().size(), 1u);
    ASSERT_TRUE(model.faults()[0].replacement);
    const QString faulty = model.text();
    model.replace(model.faults()[0]);
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model.faults().empty());
    EXPECT_TRUE(model.text().contains(u"fc: Linear(outputs)"_s));
    model.document()->undo();
    EXPECT_EQ(model.text(), faulty);
}

TEST_F(NetworkModelTest, SizesAndOptionsAreThoseThatWereSet) {
    model.setText(u"option width = 8\nnetwork(image):\n  Conv2d(width, 3)\n  Flatten\n  fc: Linear(outputs)\n"_s);
    model.setImage({1, 5, 5});
    model.setOutputs(3);
    model.setOption("width", std::int64_t{2});
    ASSERT_TRUE(settles());
    EXPECT_EQ(model.good().network.rows[0].shape, "N x 2 x 3 x 3");
    EXPECT_EQ(model.good().network.shape, "N x 3");
    model.resetOption("width");
    ASSERT_TRUE(settles());
    EXPECT_EQ(model.good().network.rows[0].shape, "N x 8 x 3 x 3");
}

TEST_F(NetworkModelTest, PlacesCountCharactersBeyondTheFirstPlaneAsOne) {
    model.setText(u"# \U0001F600 a\nnetwork(image):\n  Flatten\n"_s);
    EXPECT_EQ(model.position({1, 5, 1}), 5);
    EXPECT_EQ(model.position({9, 1, 1}), -1);
}

}  // namespace
}  // namespace ui
