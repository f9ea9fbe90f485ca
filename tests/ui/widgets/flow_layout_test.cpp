#include "widgets/flow_layout.h"

#include <gtest/gtest.h>

#include <QWidget>

namespace ui {
namespace {

struct FlowLayoutTest : testing::Test {
    QWidget* add(int width, int height) {
        auto* widget = new QWidget(&parent);
        widget->setFixedSize(width, height);
        layout->addWidget(widget);
        return widget;
    }
    QWidget parent;
    FlowLayout* layout = new FlowLayout(&parent, 4);
};

TEST_F(FlowLayoutTest, PutsTheMiddlesOfALineInOneLineAndBreaksWhereItIsFull) {
    const auto* first = add(40, 30);
    const auto* low = add(40, 20);
    const auto* next = add(40, 10);
    layout->setGeometry({0, 0, 90, 100});
    EXPECT_EQ(first->geometry(), QRect(0, 0, 40, 30));
    EXPECT_EQ(low->geometry(), QRect(44, 5, 40, 20));
    EXPECT_EQ(next->geometry(), QRect(0, 34, 40, 10));
    EXPECT_EQ(layout->heightForWidth(90), 44);
    EXPECT_EQ(layout->heightForWidth(200), 30);
}

TEST_F(FlowLayoutTest, WhatIsWiderThanTheLineStandsAlone) {
    const auto* wide = add(200, 10);
    const auto* next = add(20, 10);
    layout->setGeometry({0, 0, 90, 100});
    EXPECT_EQ(wide->pos(), QPoint(0, 0));
    EXPECT_EQ(next->pos(), QPoint(0, 14));
}

}  // namespace
}  // namespace ui
