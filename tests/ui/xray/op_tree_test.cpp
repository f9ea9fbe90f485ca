#include "xray/op_tree.h"

#include "xray/traces.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct OpTreeTest : testing::Test {
    engine::Xray trace;
    OpTree tree;
    OpTreeTest() {
        trace.ops = {test::op("conv1", "conv2d", "f16", 132), test::op("conv1", "relu", "f32", 3),
                     test::op("", "cross_entropy", "f32", 5)};
        trace.ops[1].rule = "none";
        trace.ops[2].rule = "inside";
        tree.show(&trace);
    }
    /// Row of the forward pass: a group, or its operation.
    QModelIndex group(int row) const { return tree.index(row, 0, tree.index(0, 0)); }
    QModelIndex row(int of, int at) const { return tree.index(at, 0, group(of)); }
    QString rule(const QModelIndex& index) const {
        return index.siblingAtColumn(OpTree::rule).data().toString();
    }
};

/// The inputs of conv2d are f32 before its casts.
TEST_F(OpTreeTest, ABarHasTheTypeThatWasComputedInRowAndGroupAlike) {
    EXPECT_EQ(row(0, 0).data(OpTree::mainTypeRole), u"f16"_s);
    EXPECT_EQ(row(0, 1).data(OpTree::mainTypeRole), u"f32"_s);
    EXPECT_EQ(group(0).data(OpTree::mainTypeRole), u"f16"_s) << "most of its time";
}

TEST_F(OpTreeTest, ARuleSaysWhatRan) {
    EXPECT_EQ(rule(row(0, 1)), u"no entry: keeps its input's type"_s);
    EXPECT_EQ(rule(row(1, 0)), u"no entry: decided by its parts"_s);
}

TEST_F(OpTreeTest, WhatMayBeCutIsWholeInTheToolTip) {
    const QModelIndex rules = group(0).siblingAtColumn(OpTree::rule);
    for (const QModelIndex& index : {tree.index(0, 0), group(0), rules}) {
        EXPECT_FALSE(index.data().toString().isEmpty());
        EXPECT_EQ(index.data(Qt::ToolTipRole), index.data());
    }
}

TEST_F(OpTreeTest, MarksWhatAutocastDecidedAndWhatTheUserForced) {
    const auto mark = [](const QModelIndex& index) {
        return ForceMark(index.siblingAtColumn(OpTree::rule).data(OpTree::markRole).toInt());
    };
    EXPECT_EQ(mark(row(0, 0)), ForceMark::autocast) << "on a list";
    EXPECT_EQ(mark(row(0, 1)), ForceMark::none);
    EXPECT_EQ(mark(row(1, 0)), ForceMark::none) << "decided by its parts";
    EXPECT_EQ(mark(group(0)), ForceMark::autocast) << "the strongest in it";
    EXPECT_FALSE(row(0, 0).data(OpTree::markRole).isValid()) << "in the column of the rules only";

    trace.ops[2].rule = "promote";
    trace.ops[1].rule = "forced";
    trace.ops[1].key = "relu";
    tree.show(&trace);
    EXPECT_EQ(mark(row(1, 0)), ForceMark::autocast);
    EXPECT_EQ(mark(row(0, 1)), ForceMark::user);
    EXPECT_EQ(mark(group(0)), ForceMark::user);
    EXPECT_EQ(rule(row(0, 1)), u"forced by relu"_s);
}

TEST_F(OpTreeTest, MarksWhatTheExperimentForcesThoughTheTraceIsOlder) {
    tree.setTried({{"conv1:conv2d", engine::ForcedType::fp32}});
    EXPECT_EQ(rule(row(0, 0)), u"forced to FP32 in the experiment"_s);
    EXPECT_EQ(ForceMark(group(0).siblingAtColumn(OpTree::rule).data(OpTree::markRole).toInt()),
              ForceMark::user);
    EXPECT_EQ(rule(row(0, 1)), u"no entry: keeps its input's type"_s);
    tree.setTried({});
    EXPECT_EQ(rule(row(0, 0)), u"on the 16-bit list"_s);
}

TEST_F(OpTreeTest, AGroupCountsRulesInTheWordsOfTheChips) {
    EXPECT_EQ(rule(group(0)), u"1 × 16 bits · 1 × no entry"_s);
}

}  // namespace
}  // namespace ui
