#include "models/settings_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "engine/settings/command_line.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

double learningRate(const SettingsModel& model) {
    return std::get<double>(model.config().optimizer.options.at("lr"));
}

TEST(SettingsModel, BeginsWithTheDefaultComparison) {
    const SettingsModel model;
    EXPECT_EQ(model.config(), windowDefaults());
    EXPECT_EQ(model.comparison(), (QStringList{u"fp32"_s, u"amp-fp16"_s}));
    EXPECT_TRUE(model.errors().empty());
}

TEST(SettingsModel, RunsOfTheWindowKeepHistogramsAndAnOpenedFileKeepsItsOwn) {
    SettingsModel model;
    const QString every = u"instruments.histograms_every"_s;
    EXPECT_EQ(model.text(every), u"auto"_s);
    EXPECT_FALSE(model.isChanged(every));
    EXPECT_TRUE(model.toJson().contains("\"histograms_every\": \"auto\""));
    EXPECT_THAT(engine::to_command_line(model.config()),
                testing::HasSubstr("instruments.histograms_every=auto"));
    model.load(engine::parse_run_config("{}").config);
    EXPECT_EQ(model.text(every), u"0"_s);
    model.set(every, u"20"_s);
    EXPECT_TRUE(model.errorAt(every).isEmpty());
    model.reset(every);
    EXPECT_EQ(model.text(every), u"auto"_s);
}

TEST(SettingsModel, SetsAnyFieldByItsPath) {
    SettingsModel model;
    model.set(u"optimizer.lr"_s, u"0.125"_s);
    model.set(u"batch_size"_s, u" 64 "_s);
    model.set(u"deterministic"_s, u"false"_s);
    EXPECT_EQ(learningRate(model), 0.125);
    EXPECT_EQ(model.config().batch_size, 64);
    EXPECT_FALSE(model.config().deterministic);
    EXPECT_EQ(model.text(u"optimizer.lr"_s), u"0.125"_s);
    EXPECT_TRUE(model.isChanged(u"optimizer.lr"_s));
    model.reset(u"optimizer.lr"_s);
    EXPECT_FALSE(model.isChanged(u"optimizer.lr"_s));
    EXPECT_EQ(learningRate(model), 0.05);
}

TEST(SettingsModel, KeepsARefusedTextBesideTheLastGoodValue) {
    SettingsModel model;
    for (const auto& [path, text] :
         {std::pair{u"batch_size"_s, u"0"_s}, std::pair{u"optimizer.lr"_s, u"nan"_s},
          std::pair{u"scaler.growth_factor"_s, u"1"_s}, std::pair{u"epochs"_s, u"many"_s}}) {
        model.set(path, text);
        EXPECT_EQ(model.text(path), text);
        EXPECT_FALSE(model.errorAt(path).isEmpty()) << path.toStdString();
    }
    EXPECT_EQ(model.errors().size(), 4u);
    EXPECT_EQ(model.config().batch_size, 128);
    EXPECT_TRUE(engine::validate(model.config()).empty());
    model.set(u"batch_size"_s, u"32"_s);
    EXPECT_EQ(model.errors().size(), 3u);
    EXPECT_EQ(model.config().batch_size, 32);
}

TEST(SettingsModel, TakesAScalersValuesFromItsPreset) {
    SettingsModel model;
    EXPECT_EQ(model.text(u"scaler.growth_interval"_s), u"25"_s);
    EXPECT_FALSE(model.isChanged(u"scaler.growth_interval"_s));
    model.set(u"scaler.preset"_s, u"production"_s);
    EXPECT_EQ(model.text(u"scaler.growth_interval"_s), u"2000"_s);
    model.set(u"scaler.growth_interval"_s, u"100"_s);
    EXPECT_TRUE(model.isChanged(u"scaler.growth_interval"_s));
    EXPECT_EQ(model.defaultText(u"scaler.growth_interval"_s), u"2000"_s);
}

TEST(SettingsModel, TheTextOfANumberIsAllOfIt) {
    SettingsModel model;
    for (const double scale : {1099511627776.0, 65536.0, 0.1, 1.0 / 3}) {
        auto config = model.config();
        config.scaler.init_scale = scale;
        model.load(config);
        EXPECT_EQ(model.text(u"scaler.init_scale"_s).toDouble(), scale);
    }
    EXPECT_EQ(model.text(u"optimizer.lr"_s), u"0.05"_s);
}

TEST(SettingsModel, HasATextForEveryFieldOfTheCatalog) {
    SettingsModel model;
    QSignalSpy changed(&model, &SettingsModel::changed);
    for (const auto& field : engine::fields()) {
        const QString path = QString::fromStdString(field.path);
        const QString text = model.text(path);
        model.set(path, text);
        EXPECT_EQ(model.text(path), text) << field.path;
    }
    EXPECT_EQ(changed.count(), 0);
}

TEST(SettingsModel, MakesTheComparisonsRunsDifferInPrecisionAlone) {
    SettingsModel model;
    model.setComparison({u"fp32"_s, u"amp-bf16"_s, u"pure-fp16"_s});
    const auto configs = model.comparisonConfigs();
    ASSERT_EQ(configs.size(), 3u);
    EXPECT_EQ(engine::differing_fields(configs[0], configs[2]),
              std::vector<std::string>{"precision.preset"});
}

TEST(SettingsModel, AComparisonKeepsAStaticScaleAndNamesWhatItLeavesOut) {
    SettingsModel model;
    model.setComparison({u"fp32"_s, u"amp-fp16"_s});
    auto config = model.config();
    config.precision.preset = "amp-fp16";
    config.precision.scaler = engine::ScalerMode::constant;
    config.precision.force["fc1"] = engine::ForcedType::fp32;
    model.load(config);
    const auto runs = model.comparisonConfigs();
    engine::PrecisionConfig plain;
    plain.preset = "fp32";
    EXPECT_EQ(runs[0].precision, plain);
    EXPECT_EQ(runs[1].precision.scaler, engine::ScalerMode::constant);
    EXPECT_TRUE(runs[1].precision.force.empty());
    EXPECT_EQ(model.leftOutOfComparison(), QStringList{u"Forced types"_s});
    model.setComparison({u"fp32"_s, u"amp-bf16"_s});
    EXPECT_EQ(model.leftOutOfComparison(), QStringList({u"Loss scaling"_s, u"Forced types"_s}));
}

TEST(SettingsModel, EveryFieldGoesBackToADefaultThatIsTaken) {
    for (const char* optimizer : {"sgd", "adam", "novograd"}) {
        SettingsModel model;
        model.set(u"optimizer.kind"_s, QString::fromLatin1(optimizer));
        for (const auto& field : engine::fields()) {
            if (field.path == "optimizer.kind") continue;
            const QString path = QString::fromStdString(field.path);
            const QString other =
                field.choices.empty() ? u"3"_s : QString::fromStdString(field.choices.back().value);
            model.set(path, other);
            model.reset(path);
            EXPECT_FALSE(model.isChanged(path)) << field.path;
            EXPECT_TRUE(model.errorAt(path).isEmpty()) << field.path;
            if (path == u"dataset.kind"_s || path == u"model.kind"_s) continue;
            EXPECT_TRUE(model.errors().empty()) << field.path;
        }
    }
}

TEST(SettingsModel, NotesWhatOfAFilePlaysNoPartUntilAnotherKindIsChosen) {
    QTemporaryDir folder;
    const QString path = folder.filePath(u"old.json"_s);
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(R"({"optimizer": {"kind": "sgd", "beta1": 0.5}})");
    file.close();
    SettingsModel model;
    model.loadFile(path);
    ASSERT_EQ(model.notes().size(), 1u);
    EXPECT_TRUE(model.errors().empty());
    model.set(u"optimizer.kind"_s, u"adam"_s);
    EXPECT_TRUE(model.notes().empty());
}

TEST(SettingsModel, EditsEachOptionOfTheModel) {
    SettingsModel model;
    model.set(u"dataset.kind"_s, u"spirals"_s);
    model.set(u"model.kind"_s, u"mlp"_s);
    const QString hidden = u"model.options.hidden"_s;
    EXPECT_EQ(model.text(hidden), u"64, 64"_s);
    EXPECT_FALSE(model.isChanged(hidden));
    model.set(hidden, u"8, 16"_s);
    EXPECT_TRUE(model.errorAt(hidden).isEmpty());
    EXPECT_TRUE(model.isChanged(hidden));
    EXPECT_EQ(model.config().model.options.at("hidden"),
              engine::OptionValue(std::vector<std::int64_t>{8, 16}));
    model.set(hidden, u"8, many"_s);
    EXPECT_FALSE(model.errorAt(hidden).isEmpty());
    model.reset(hidden);
    EXPECT_EQ(model.text(hidden), u"64, 64"_s);
}

TEST(SettingsModel, OffersTheOptionsOfTheChosenDataSetAndModelAlone) {
    SettingsModel model;
    EXPECT_FALSE(model.applies(u"dataset.target"_s));
    EXPECT_FALSE(model.applies(u"bptt"_s));
    model.set(u"dataset.kind"_s, u"csv"_s);
    EXPECT_TRUE(model.applies(u"dataset.target"_s));
    EXPECT_EQ(model.text(u"dataset.missing"_s), u"refuse"_s);
    model.set(u"dataset.kind"_s, u"text-generated"_s);
    model.set(u"model.kind"_s, u"rnn-lm"_s);
    EXPECT_FALSE(model.applies(u"dataset.target"_s));
    EXPECT_TRUE(model.applies(u"bptt"_s));
    EXPECT_TRUE(model.applies(u"model.options.cell"_s));
    EXPECT_EQ(model.text(u"model.options.cell"_s), u"lstm"_s);
    EXPECT_TRUE(model.errors().empty());
}

TEST(SettingsModel, AStaticScaleHasNothingButItsScale) {
    SettingsModel model;
    EXPECT_FALSE(model.applies(u"precision.scaler"_s)) << "the precision decides";
    EXPECT_TRUE(model.applies(u"scaler.growth_interval"_s));
    auto config = model.config();
    config.precision.preset = "amp-fp16";
    config.precision.scaler = engine::ScalerMode::constant;
    model.load(config);
    EXPECT_TRUE(model.hasStaticScale());
    EXPECT_EQ(model.label(u"scaler.init_scale"_s), u"Static scale"_s);
    EXPECT_TRUE(model.applies(u"precision.scaler"_s));
    EXPECT_TRUE(model.applies(u"scaler.init_scale"_s));
    for (const QString& idle : {u"scaler.preset"_s, u"scaler.growth_factor"_s,
                                u"scaler.backoff_factor"_s, u"scaler.growth_interval"_s})
        EXPECT_FALSE(model.applies(idle)) << idle.toStdString();
    model.set(u"precision.scaler"_s, u"dynamic"_s);
    EXPECT_TRUE(model.applies(u"scaler.growth_interval"_s));
}

TEST(SettingsModel, TakesTheDefaultsOfAnotherOptimizer) {
    SettingsModel model;
    model.set(u"optimizer.kind"_s, u"adam"_s);
    EXPECT_EQ(learningRate(model), 0.001);
    EXPECT_FALSE(model.isChanged(u"optimizer.lr"_s));
    EXPECT_EQ(model.defaultText(u"optimizer.lr"_s), u"0.001"_s);
}

TEST(SettingsModel, SavesAndOpensTheComparedPrecisionsToo) {
    QTemporaryDir folder;
    const QString file = folder.filePath(u"s.json"_s);
    SettingsModel model;
    model.setComparison({u"fp32"_s, u"pure-fp16"_s});
    model.saveFile(file);
    SettingsModel other;
    other.loadFile(file);
    EXPECT_EQ(other.comparison(), model.comparison());
}

TEST(SettingsModel, ReadsBackWhatItWrote) {
    QTemporaryDir folder;
    const QString file = folder.filePath(u"s.json"_s);
    SettingsModel model;
    model.set(u"epochs"_s, u"7"_s);
    model.saveFile(file);
    SettingsModel other;
    other.loadFile(file);
    EXPECT_EQ(other.config(), model.config());
}

TEST(SettingsModel, RefusesSeveralWorkersWhereThereIsNoMpirun) {
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", "/nowhere");
    SettingsModel model;
    model.set(u"workers"_s, u"2"_s);
    qputenv("PATH", path);
    ASSERT_EQ(model.errors().size(), 1u);
    EXPECT_EQ(model.errors().front().field, "workers");
    EXPECT_FALSE(model.errorAt(u"workers"_s).isEmpty());
    model.set(u"workers"_s, u"1"_s);
    EXPECT_TRUE(model.errors().empty());
}

TEST(SettingsModel, RefusesAFileThatIsNotSettings) {
    QTemporaryDir folder;
    const QString file = folder.filePath(u"s.json"_s);
    QFile out(file);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    out.write("{\"batch_sise\": 3}");
    out.close();
    SettingsModel model;
    EXPECT_THROW(model.loadFile(file), engine::Error);
    EXPECT_THROW(model.loadFile(folder.filePath(u"none.json"_s)), engine::Error);
    EXPECT_EQ(model.config(), windowDefaults());
}

/// A network with an option.
QString networkFile(const QTemporaryDir& folder, const char* option) {
    const QString file = folder.filePath(u"own.network"_s);
    QFile out(file);
    EXPECT_TRUE(out.open(QIODevice::WriteOnly));
    out.write(QByteArray("option ") + option +
              "\nnetwork(image):\n  Flatten\n  fc1: Linear(size)\n  ReLU\n  fc2: Linear(outputs)\n");
    return file;
}

TEST(SettingsModel, ANetworkFileBringsOptionsOfItsOwn) {
    QTemporaryDir folder;
    SettingsModel model;
    const QString path = u"model.path"_s, size = u"model.options.size"_s;
    EXPECT_FALSE(model.applies(path));
    EXPECT_EQ(model.field(size), nullptr);
    model.set(path, networkFile(folder, "size = 16 in 1..64 \"Numbers in between\""));
    EXPECT_TRUE(model.errors().empty());
    EXPECT_TRUE(model.applies(path));
    EXPECT_TRUE(model.applies(size));
    ASSERT_NE(model.field(size), nullptr);
    EXPECT_EQ(model.field(size)->help, "Numbers in between");
    EXPECT_EQ(model.text(size), u"16"_s);
    model.set(size, u"32"_s);
    EXPECT_TRUE(model.isChanged(size));
    model.set(size, u"65"_s);
    EXPECT_FALSE(model.errorAt(size).isEmpty());
    model.reset(size);
    EXPECT_EQ(model.text(size), u"16"_s);
    EXPECT_FALSE(model.isChanged(size));
    model.set(path, folder.filePath(u"none.network"_s));
    EXPECT_FALSE(model.errorAt(path).isEmpty());
    model.undo();
    EXPECT_TRUE(model.errorAt(path).isEmpty());
    model.set(u"model.kind"_s, u"lenet"_s);
    EXPECT_FALSE(model.toJson().contains("network"));
    EXPECT_FALSE(model.applies(path));
}

}  // namespace
}  // namespace ui
