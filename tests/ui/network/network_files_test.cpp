#include "network/network_files.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QTextCursor>
#include <optional>

#include "commands/commands.h"
#include "feed/event_feed.h"
#include "models/settings_model.h"
#include "network/network_model.h"

namespace ui {
namespace {

struct NetworkFilesTest : testing::Test {
    EventFeed feed;
    SettingsModel settings;
    Commands commands{&feed, &settings};
    Context context;
    QTemporaryDir folder;
    std::unique_ptr<NetworkModel> model;
    NetworkFiles* files = nullptr;

    NetworkFilesTest() {
        context.commands = &commands;
        context.settings = &settings;
        QFile::remove(NetworkFiles::draftFile());
        start();
    }
    ~NetworkFilesTest() override {
        model.reset();
        QFile::remove(NetworkFiles::draftFile());
    }
    void start() {
        model = std::make_unique<NetworkModel>(context);
        files = new NetworkFiles(context, model.get());
    }
    QString write(const QByteArray& text) const {
        const QString name = folder.filePath(u"a.network"_s);
        QFile file(name);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(text);
        return name;
    }
    static QByteArray read(const QString& name) {
        QFile file(name);
        EXPECT_TRUE(file.open(QIODevice::ReadOnly));
        return file.readAll();
    }
    void type(const QString& text) {
        QTextCursor cursor(model->document());
        cursor.movePosition(QTextCursor::End);
        cursor.insertText(text);
    }
};

const QByteArray small = "network(image):\n  Flatten\n  fc: Linear(outputs)\n";

TEST_F(NetworkFilesTest, OpensAndSavesWithoutMarksOfOtherSystems) {
    const QString name = write("\xef\xbb\xbf" + QByteArray(small).replace("\n", "\r\n"));
    ASSERT_TRUE(files->open(name));
    EXPECT_EQ(model->text().toUtf8(), small);
    EXPECT_EQ(files->name(), u"a.network"_s);
    EXPECT_FALSE(files->isEdited());
    type(u"# more\n"_s);
    EXPECT_TRUE(files->isEdited());
    bool saved = false;
    files->save(name, [&saved] { saved = true; });
    ASSERT_TRUE(QTest::qWaitFor([&saved] { return saved; }, 30'000));
    EXPECT_FALSE(files->isEdited());
    EXPECT_EQ(read(name), small + "# more\n");
}

TEST_F(NetworkFilesTest, ATemplateIsReadOnlyAndItsCopyIsNot) {
    files->showTemplate(u"lenet"_s);
    EXPECT_TRUE(model->isReadOnly());
    EXPECT_EQ(files->name(), u"lenet.network"_s);
    files->edit();
    EXPECT_FALSE(model->isReadOnly());
    EXPECT_TRUE(files->file().isEmpty());
}

TEST_F(NetworkFilesTest, ADraftSurvivesTheEndOfTheProgram) {
    ASSERT_TRUE(files->open(write(small)));
    type(u"# unsaved\n"_s);
    ASSERT_TRUE(QTest::qWaitFor([] { return QFile::exists(NetworkFiles::draftFile()); }, 30'000));
    const QByteArray draft = read(NetworkFiles::draftFile());
    model.reset();
    // As a program that was killed left it.
    QFile left(NetworkFiles::draftFile());
    ASSERT_TRUE(left.open(QIODevice::WriteOnly));
    left.write(draft);
    left.close();
    start();
    EXPECT_TRUE(model->text().endsWith(u"# unsaved\n"_s));
    EXPECT_TRUE(files->isEdited());
    EXPECT_EQ(files->name(), u"a.network"_s);
    EXPECT_EQ(files->file(), folder.filePath(u"a.network"_s));
    files->showTemplate(u"lenet"_s);
    EXPECT_FALSE(QFile::exists(NetworkFiles::draftFile()));
}

TEST_F(NetworkFilesTest, AFileThatAnotherProgramChangesIsNoticed) {
    const QString name = write(small);
    ASSERT_TRUE(files->open(name));
    write(small + "# theirs\n");
    ASSERT_TRUE(QTest::qWaitFor([this] { return files->isChangedOnDisk(); }, 30'000));
    EXPECT_EQ(model->text().toUtf8(), small);
    files->reload();
    EXPECT_FALSE(files->isChangedOnDisk());
    EXPECT_EQ(model->text().toUtf8(), small + "# theirs\n");
    model->document()->undo();
    EXPECT_EQ(model->text().toUtf8(), small);
    write(small + "# again\n");
    ASSERT_TRUE(QTest::qWaitFor([this] { return files->isChangedOnDisk(); }, 30'000));
    files->keepMine();
    EXPECT_FALSE(files->isChangedOnDisk());
    EXPECT_TRUE(files->isEdited());
    EXPECT_EQ(model->text().toUtf8(), small);
}

TEST_F(NetworkFilesTest, ATextOfSettingsIsEditedIfItsFileHasAnotherOne) {
    const QString name = write(small);
    files->showText(QString::fromUtf8(small), u"a.network"_s, name);
    EXPECT_FALSE(files->isEdited());
    EXPECT_FALSE(files->isChangedOnDisk());
    write(small + "# newer\n");
    files->showText(QString::fromUtf8(small), u"a.network"_s, name);
    EXPECT_TRUE(files->isEdited());
    EXPECT_TRUE(files->isChangedOnDisk());
}

TEST_F(NetworkFilesTest, SavingWritesOverAnotherProgramsChangeOnlyAfterTheAnswer) {
    const QString name = write(small);
    ASSERT_TRUE(files->open(name));
    type(u"# mine\n"_s);
    write(small + "# theirs\n");
    bool saved = false;
    files->save(name, [&saved] { saved = true; });
    EXPECT_TRUE(files->isChangedOnDisk());
    files->keepMine();
    EXPECT_EQ(read(name), small + "# theirs\n");
    files->save(name, [&saved] { saved = true; });
    ASSERT_TRUE(QTest::qWaitFor([&saved] { return saved; }, 30'000));
    EXPECT_EQ(read(name), small + "# mine\n");
}

TEST_F(NetworkFilesTest, ADraftKnowsThatItsFileHasChangedSince) {
    ASSERT_TRUE(files->open(write(small)));
    type(u"# unsaved\n"_s);
    ASSERT_TRUE(QTest::qWaitFor([] { return QFile::exists(NetworkFiles::draftFile()); }, 30'000));
    const QByteArray draft = read(NetworkFiles::draftFile());
    model.reset();
    QFile left(NetworkFiles::draftFile());
    ASSERT_TRUE(left.open(QIODevice::WriteOnly));
    left.write(draft);
    left.close();
    write(small + "# theirs\n");
    start();
    EXPECT_TRUE(model->text().endsWith(u"# unsaved\n"_s));
    EXPECT_TRUE(files->isChangedOnDisk());
}

TEST_F(NetworkFilesTest, ATextThatIsSetAsideComesBackWithItsFile) {
    const QString name = write(small);
    ASSERT_TRUE(files->open(name));
    type(u"# mine\n"_s);
    const engine::Options options{{"depth", std::int64_t{2}}, {"share", 2.0}, {"widths", std::vector<std::int64_t>{8, 16}}};
    for (const auto& [option, value] : options) model->setOption(option, value);
    files->setAside();
    files->showTemplate(u"lenet"_s);
    model.reset();
    start();
    EXPECT_TRUE(model->text().isEmpty());
    EXPECT_EQ(files->asideName(), u"a.network"_s);
    files->takeDraft();
    EXPECT_EQ(model->text().toUtf8(), small + "# mine\n");
    EXPECT_EQ(files->file(), name);
    EXPECT_EQ(model->options(), options);
    EXPECT_TRUE(files->isEdited());
    EXPECT_TRUE(files->asideName().isEmpty());
}

TEST_F(NetworkFilesTest, WhatCannotBeReadIsReported) {
    Problem told;
    QObject::connect(&commands, &Commands::failed, &commands, [&told](const Problem& problem) { told = problem; });
    EXPECT_FALSE(files->open(folder.filePath(u"none.network"_s)));
    EXPECT_FALSE(told.sentence.isEmpty());
}

TEST_F(NetworkFilesTest, TheTextOfARunStandsBeforeAnEditedOneAndGoesAgain) {
    ASSERT_TRUE(files->open(write(small)));
    type(u"# mine"_s);
    const QString mine = model->text();
    files->showRun(u"network(image):\n  Flatten\n  Linear(outputs)\n"_s, {}, u"run 12"_s);
    EXPECT_TRUE(files->isRun());
    EXPECT_TRUE(model->isReadOnly());
    EXPECT_EQ(files->name(), u"text of run 12"_s);
    files->back();
    EXPECT_FALSE(files->isRun());
    EXPECT_FALSE(model->isReadOnly());
    EXPECT_EQ(model->text(), mine);
    EXPECT_TRUE(files->isEdited());
    EXPECT_EQ(files->name(), u"a.network"_s);
}

TEST_F(NetworkFilesTest, ACopyOfARunsTextKeepsTheEditedOneAsADraft) {
    ASSERT_TRUE(files->open(write(small)));
    type(u"# mine"_s);
    files->showRun(u"network(image):\n  Flatten\n  Linear(outputs)\n"_s, {}, u"run 12"_s);
    files->edit();
    EXPECT_FALSE(files->isRun());
    EXPECT_FALSE(model->isReadOnly());
    EXPECT_EQ(files->asideName(), u"a.network"_s);
    files->takeDraft();
    EXPECT_TRUE(model->text().endsWith(u"# mine"_s));
}

TEST_F(NetworkFilesTest, ATemplateBehindARunsTextStaysToRead) {
    files->showTemplate(u"lenet"_s);
    const QString before = model->text();
    files->showRun(u"network(image):\n  Flatten\n  Linear(outputs)\n"_s, {}, u"run 12"_s);
    files->back();
    EXPECT_EQ(model->text(), before);
    EXPECT_TRUE(model->isReadOnly());
    EXPECT_FALSE(files->isEdited());
}

}  // namespace
}  // namespace ui
