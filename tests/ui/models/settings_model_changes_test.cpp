// Undo and redo of settings, and what one choice leaves of another.
#include <gtest/gtest.h>

#include <QCoreApplication>

#include "models/settings_model.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

const QString rate = u"optimizer.lr"_s;
const QString optimizer = u"optimizer.kind"_s;

/// A change in a turn of its own.
void change(SettingsModel& model, const QString& path, const QString& text) {
    model.set(path, text);
    QCoreApplication::processEvents();
}

TEST(SettingsChanges, UndoAndRedoGoThroughEveryChange) {
    SettingsModel model;
    EXPECT_FALSE(model.undoable());
    const QByteArray first = model.toJson();
    change(model, u"seed"_s, u"5"_s);
    const QByteArray second = model.toJson();
    change(model, u"seed"_s, u"not a number"_s);  // a refused text comes and goes as well
    model.setComparison({u"fp32"_s});
    QCoreApplication::processEvents();
    EXPECT_EQ(model.undoable(), QString());
    model.undo();
    EXPECT_EQ(model.undoable(), u"Seed"_s);
    EXPECT_FALSE(model.errors().empty());
    model.undo();
    EXPECT_EQ(model.toJson(), second);
    EXPECT_TRUE(model.errors().empty());
    model.undo();
    EXPECT_EQ(model.toJson(), first);
    EXPECT_FALSE(model.undoable());
    model.undo();  // nothing left
    model.redo();
    EXPECT_EQ(model.toJson(), second);
    change(model, u"epochs"_s, u"3"_s);
    EXPECT_FALSE(model.redoable()) << "another change ends what could be done again";
}

TEST(SettingsChanges, WhatFollowsFromAChangeIsOneWithIt) {
    SettingsModel model;
    const QByteArray first = model.toJson();
    model.set(u"dataset.path"_s, u"/data/t.csv"_s);
    model.set(u"dataset.kind"_s, u"csv"_s);
    QCoreApplication::processEvents();
    model.undo();
    EXPECT_EQ(model.toJson(), first);
    EXPECT_FALSE(model.undoable());
}

TEST(SettingsChanges, AnotherOptimizerLeavesARateThatWasTyped) {
    SettingsModel model;
    change(model, rate, u"0.003"_s);
    change(model, optimizer, u"adam"_s);
    EXPECT_EQ(model.text(rate), u"0.003"_s);
    model.undo();
    EXPECT_EQ(model.text(optimizer), u"sgd"_s);
    model.redo();
    EXPECT_EQ(model.text(rate), u"0.003"_s);
    model.reset(rate);  // from here on it is a default again
    change(model, optimizer, u"sgd"_s);
    EXPECT_FALSE(model.isChanged(rate));
    SettingsModel opened;
    opened.load(engine::parse_run_config(R"({"optimizer": {"kind": "sgd", "lr": 0.7}})").config);
    change(opened, optimizer, u"adamw"_s);
    EXPECT_EQ(opened.text(rate), u"0.7"_s);
}

TEST(SettingsChanges, OptionsOfADataSetGoWithIt) {
    SettingsModel model;
    model.load(engine::parse_run_config(
                   R"({"dataset": {"kind": "image-folder", "path": "/p", "image_size": 64}})")
                   .config);
    ASSERT_EQ(model.text(u"dataset.image_size"_s), u"64"_s);
    change(model, u"dataset.kind"_s, u"csv"_s);
    EXPECT_FALSE(model.config().dataset.options.contains("image_size"));
    EXPECT_FALSE(model.isChanged(u"dataset.image_size"_s));
}

TEST(SettingsChanges, NumbersAreKnownFromWords) {
    SettingsModel model;
    for (const auto& path : {u"seed"_s, rate, u"batch_size"_s, u"scaler.growth_interval"_s})
        EXPECT_TRUE(model.takesNumber(path)) << path.toStdString();
    for (const auto& path : {u"device"_s, u"dataset.kind"_s, u"dataset.path"_s, u"model.kind"_s})
        EXPECT_FALSE(model.takesNumber(path)) << path.toStdString();
}

}  // namespace
}  // namespace ui
