#include "network/network_settings.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTest>
#include <QTextCursor>
#include <optional>

#include "commands/commands.h"
#include "feed/event_feed.h"
#include "models/settings_model.h"
#include "network/network_files.h"
#include "network/network_model.h"

namespace ui {
namespace {

struct NetworkSettingsTest : testing::Test {
    EventFeed feed;
    SettingsModel settings;
    Commands commands{&feed, &settings};
    Context context;
    std::optional<NetworkModel> model;
    NetworkFiles* files = nullptr;
    NetworkSettings* link = nullptr;

    NetworkSettingsTest() {
        context.commands = &commands;
        context.settings = &settings;
        QFile::remove(NetworkFiles::draftFile());
        settings.set(u"dataset.kind"_s, u"glyphs"_s);
        model.emplace(context);
        files = new NetworkFiles(context, &*model);
        link = new NetworkSettings(&settings, &*model, files);
        files->showTemplate(u"lenet"_s);
    }
    ~NetworkSettingsTest() override {
        model.reset();
        QFile::remove(NetworkFiles::draftFile());
    }
    bool settles() {
        return QTest::qWaitFor([this] { return !model->isChecking() && model->now().text == model->text(); }, 30'000);
    }
    void replace(const QString& word, const QString& other) {
        QTextCursor cursor(model->document());
        cursor.setPosition(static_cast<int>(model->text().indexOf(word)));
        cursor.movePosition(QTextCursor::Right, QTextCursor::KeepAnchor, static_cast<int>(word.size()));
        cursor.insertText(other);
    }
    QString inSettings() const {
        QString text;
        for (const std::string& line : settings.config().model.network.all) text += QString::fromStdString(line) + u'\n';
        return text;
    }
};

TEST_F(NetworkSettingsTest, ATemplateThatIsReadChangesNothingAndItsCopyIsTrained) {
    ASSERT_TRUE(settles());
    EXPECT_FALSE(link->isTrained());
    EXPECT_NE(settings.config().model.kind, "file");
    files->edit();
    ASSERT_TRUE(settles());
    EXPECT_TRUE(link->isTrained());
    EXPECT_EQ(settings.config().model.kind, "file");
    EXPECT_EQ(inSettings(), model->text());
    EXPECT_TRUE(settings.errors().empty());
}

TEST_F(NetworkSettingsTest, ATextWithAFaultKeepsTheLastOneAndTheNextRunFromStarting) {
    files->edit();
    ASSERT_TRUE(settles());
    const QString good = inSettings();
    replace(u"Linear(84)"_s, u"Dense(84)"_s);
    ASSERT_TRUE(settles());
    EXPECT_EQ(inSettings(), good);
    EXPECT_FALSE(settings.errorAt(u"model.network"_s).isEmpty());
    replace(u"Dense(84)"_s, u"Linear(85)"_s);
    ASSERT_TRUE(settles());
    EXPECT_TRUE(settings.errors().empty());
    EXPECT_EQ(inSettings(), model->text());
    EXPECT_NE(inSettings(), good);
}

TEST_F(NetworkSettingsTest, OptionsOfTheTextAreThoseOfTheModel) {
    files->showText(u"option width = 8 in 1..64\nnetwork(image):\n  Conv2d(width, 3)\n  Flatten\n  fc: Linear(outputs)\n"_s, u"a.network"_s, {});
    ASSERT_TRUE(settles());
    EXPECT_EQ(std::get<std::int64_t>(settings.config().model.options.at("width")), 8);
    model->setOption("width", std::int64_t{4});
    ASSERT_TRUE(QTest::qWaitFor([this] { return settings.config().model.options.at("width") == engine::OptionValue(std::int64_t{4}); }, 30'000));
    EXPECT_TRUE(settings.errors().empty());
}

TEST_F(NetworkSettingsTest, AnotherModelInTheSettingsIsTrainedUntilTheTextIsAskedFor) {
    files->edit();
    ASSERT_TRUE(settles());
    replace(u"Linear(84)"_s, u"Linear(85)"_s);
    ASSERT_TRUE(settles());
    const QString mine = model->text();
    settings.set(u"model.kind"_s, u"lenet"_s);
    EXPECT_FALSE(link->isTrained());
    EXPECT_EQ(model->text(), mine);
    replace(u"Linear(85)"_s, u"Linear(86)"_s);
    ASSERT_TRUE(settles());
    EXPECT_EQ(settings.config().model.kind, "lenet");
    link->train();
    EXPECT_EQ(settings.config().model.kind, "file");
    EXPECT_EQ(inSettings(), model->text());
}

TEST_F(NetworkSettingsTest, ATextThatComesWithSettingsIsShown) {
    engine::RunConfig config = settings.config();
    config.model.kind = "file";
    config.model.options.clear();
    config.model.network.all = {"network(image):", "  Flatten", "  fc: Linear(outputs)"};
    settings.load(config);
    ASSERT_TRUE(settles());
    EXPECT_EQ(model->text(), u"network(image):\n  Flatten\n  fc: Linear(outputs)\n"_s);
    EXPECT_FALSE(model->isReadOnly());
    EXPECT_TRUE(link->isTrained());
}

TEST_F(NetworkSettingsTest, AnotherTextOfTheSettingsKeepsTheEditedOneAsADraftAndBringsItsOptions) {
    files->edit();
    ASSERT_TRUE(settles());
    replace(u"Linear(84)"_s, u"Linear(85)"_s);
    ASSERT_TRUE(settles());
    const QString mine = model->text();
    engine::RunConfig config = settings.config();
    config.model.options = {{"width", std::int64_t{9}}};
    config.model.network.all = {"option width = 8 in 1..64", "network(image):", "  Conv2d(width, 3)", "  Flatten", "  fc: Linear(outputs)"};
    settings.load(config);
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model->text().startsWith(u"option width"_s));
    EXPECT_NE(files->name(), u"lenet.network"_s);
    EXPECT_EQ(model->options().at("width"), engine::OptionValue(std::int64_t{9}));
    EXPECT_EQ(files->asideName(), u"lenet.network"_s);
    files->takeDraft();
    EXPECT_EQ(model->text(), mine);
}

TEST_F(NetworkSettingsTest, AChangeTakenBackInTheSettingsIsAnEarlierStateOfTheText) {
    files->edit();
    ASSERT_TRUE(settles());
    const engine::RunConfig before = settings.config();
    const QString first = model->text();
    replace(u"Linear(84)"_s, u"Linear(85)"_s);
    ASSERT_TRUE(settles());
    settings.load(before);
    EXPECT_EQ(model->text(), first);
    EXPECT_EQ(files->name(), u"lenet.network"_s);
    EXPECT_TRUE(files->asideName().isEmpty());
}

TEST_F(NetworkSettingsTest, AnOptionThatTheSettingsChangeReachesTheText) {
    files->showText(u"option width = 8 in 1..64\nnetwork(image):\n  Conv2d(width, 3)\n  Flatten\n  fc: Linear(outputs)\n"_s, u"a.network"_s, {});
    ASSERT_TRUE(settles());
    engine::RunConfig config = settings.config();
    config.model.options["width"] = std::int64_t{4};
    settings.load(config);
    ASSERT_TRUE(settles());
    EXPECT_EQ(model->options().at("width"), engine::OptionValue(std::int64_t{4}));
    EXPECT_EQ(settings.config().model.options.at("width"), engine::OptionValue(std::int64_t{4}));
}

TEST_F(NetworkSettingsTest, OptionsThatTheSettingsChangeBehindTheTextOfARunAreThoseOfTheOwnText) {
    const QString text = u"option width = 8 in 1..64\nnetwork(image):\n  Conv2d(width, 3)\n  Flatten\n  fc: Linear(outputs)\n"_s;
    files->showText(text, u"a.network"_s, {});
    ASSERT_TRUE(settles());
    files->showRun(text, {{"width", std::int64_t{2}}}, u"a run"_s);
    ASSERT_TRUE(settles());
    engine::RunConfig config = settings.config();
    config.model.options["width"] = std::int64_t{4};
    settings.load(config);
    EXPECT_EQ(model->options().at("width"), engine::OptionValue(std::int64_t{2}));
    files->back();
    ASSERT_TRUE(settles());
    EXPECT_EQ(model->text(), text);
    EXPECT_EQ(model->options().at("width"), engine::OptionValue(std::int64_t{4}));
    EXPECT_EQ(settings.config().model.options.at("width"), engine::OptionValue(std::int64_t{4}));
}

}  // namespace
}  // namespace ui
