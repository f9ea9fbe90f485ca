#include "network/network_rows.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using State = NetworkLineRow::State;

struct Rows {
    explicit Rows(const QString& text, engine::NetworkData data = {{{"image", {3, 32, 32}, {}}}, 10, {}})
        : lines(networkLines(text)), network(engine::check_network(text.toStdString(), data)) {}
    NetworkRows make() const { return networkRows(lines, network, chosen); }

    std::vector<NetworkLine> lines;
    engine::CheckedNetwork network;
    ChosenRuns chosen;
};

QString residual() { return QString::fromStdString(engine::network_template("resnet18")); }

int lineOf(const Rows& rows, NetworkLine::Kind kind, const QString& callee = {}) {
    for (std::size_t i = 0; i < rows.lines.size(); ++i)
        if (rows.lines[i].kind == kind && (callee.isEmpty() || rows.lines[i].callee == callee)) return static_cast<int>(i) + 1;
    return 0;
}

TEST(NetworkRows, LinesHaveTheValuesOfOneUse) {
    Rows rows(residual());
    ASSERT_TRUE(rows.network.usable());
    const int block = lineOf(rows, NetworkLine::Kind::block);
    auto made = rows.make();
    const auto at = [&](int line) -> const NetworkLineRow& { return made.lines[static_cast<std::size_t>(line - 1)]; };
    EXPECT_EQ(at(block).runs, 8);
    EXPECT_EQ(at(block).run, 0);
    EXPECT_EQ(at(block).around, u"layer1.0"_s);
    EXPECT_EQ(at(block + 1).shape, u"N × 64 × 32 × 32"_s);
    EXPECT_EQ(at(block + 1).parameters, 36'864);
    EXPECT_EQ(at(block + 6).state, State::leftOut);  // downsample
    EXPECT_EQ(at(block + 7).state, State::leftOut);
    chooseRun(rows.chosen, rows.network, block, 2);
    made = rows.make();
    EXPECT_EQ(at(block).around, u"layer2.0"_s);
    EXPECT_EQ(at(block + 1).shape, u"N × 128 × 16 × 16"_s);
    EXPECT_EQ(at(block + 1).parameters, 73'728);
    EXPECT_EQ(at(block).parameters, 230'144);
    EXPECT_EQ(at(block + 6).parameters, 8'448);
    const int stages = lineOf(rows, NetworkLine::Kind::repeat);
    EXPECT_EQ(at(stages).run, 1);
    EXPECT_EQ(at(stages).runs, 4);
    EXPECT_EQ(at(stages).parameters, 11'166'976);
    EXPECT_EQ(at(stages + 3).usedBlock, block);
    EXPECT_EQ(at(stages + 3).parameters, 230'144);
    chooseRun(rows.chosen, rows.network, stages, 3);
    made = rows.make();
    EXPECT_EQ(at(block).around, u"layer4.0"_s);
}

TEST(NetworkRows, HeadsSumTheBytesThatTheirLayersKeep) {
    Rows rows(residual());
    const std::vector<double> saved(rows.network.rows.size(), 100);
    const int block = lineOf(rows, NetworkLine::Kind::block), stages = lineOf(rows, NetworkLine::Kind::repeat);
    chooseRun(rows.chosen, rows.network, block, 2);
    const auto made = networkRows(rows.lines, rows.network, rows.chosen, saved);
    const auto at = [&](int line) { return made.lines[static_cast<std::size_t>(line - 1)].saved; };
    EXPECT_EQ(at(block + 1), 100);
    EXPECT_EQ(at(block), 900) << "of nine layers";
    EXPECT_EQ(at(stages + 3), 900);
    EXPECT_EQ(at(stages), 100.0 * (8 * 7 + 3 * 2));
    EXPECT_EQ(rows.make().lines[static_cast<std::size_t>(block)].saved, 0) << "not known";
}

TEST(NetworkRows, ValuesThatLiveOnAreRails) {
    Rows rows(residual());
    const int block = lineOf(rows, NetworkLine::Kind::block);
    chooseRun(rows.chosen, rows.network, block, 2);
    const auto made = rows.make();
    const auto rail = [&](int from, int to) {
        for (const auto& each : made.rails)
            if (each.from == from && std::ranges::find(each.to, to) != each.to.end()) return each.lane;
        return -1;
    };
    EXPECT_EQ(rail(block, block + 1), 0);
    EXPECT_EQ(rail(block + 1, block + 2), 0);
    EXPECT_GT(rail(block, block + 7), 0);      // in, for downsample
    EXPECT_GT(rail(block + 5, block + 9), 0);  // bn2, for Add
    EXPECT_EQ(rail(block + 8, block + 9), 0);
    EXPECT_EQ(rail(block + 9, block + 10), 0);
    EXPECT_GT(made.lanes, 0);
    EXPECT_LE(made.lanes, mostLanes);
}

TEST(NetworkRows, ManyRailsShareTheLastLane) {
    QString text = u"network(image):\n  a0: Conv2d(8, 1)\n"_s;
    for (int i = 1; i < 10; ++i) text += u"  a%1: Conv2d(8, 1)\n"_s.arg(i);
    text += u"  Concat from a0, a1, a2, a3, a4, a5, a6, a7, a8, a9\n  AdaptiveAvgPool2d(1)\n  Flatten\n  fc: Linear(outputs)\n"_s;
    const Rows rows(text);
    ASSERT_TRUE(rows.network.usable());
    const auto made = rows.make();
    EXPECT_EQ(made.lanes, mostLanes);
    EXPECT_EQ(made.bundled, 3);
}

TEST(NetworkRows, WhatAFaultLeavesUnknownSaysSo) {
    const Rows rows(u"network(image):\n  a: Conv2d(8, 3)\n  Dense(10)\n  Flatten\n"_s);
    ASSERT_FALSE(rows.network.usable());
    const auto made = rows.make();
    EXPECT_EQ(made.lines[1].state, State::layer);
    EXPECT_EQ(made.lines[2].state, State::unknown);
    EXPECT_EQ(made.lines[3].state, State::unknown);
}

TEST(NetworkRows, EveryTemplateHasARowForEachOfItsLayers) {
    for (const std::string& name : engine::network_templates()) {
        const std::string text = engine::network_template(name);
        Rows rows(QString::fromStdString(text), engine::usual_network_data(text));
        const auto made = rows.make();
        for (std::size_t i = 0; i < rows.lines.size(); ++i) {
            const bool layer = rows.lines[i].kind == NetworkLine::Kind::layer && !rows.lines[i].callee.isEmpty();
            EXPECT_TRUE(!layer || made.lines[i].state != State::nothing) << name << ":" << i + 1;
        }
    }
}

}  // namespace
}  // namespace ui
