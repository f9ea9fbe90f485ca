#include <gmock/gmock.h>

#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>

#include "commands/file_works.h"
#include "engine/runs/export.h"
#include "engine/settings/catalog.h"
#include "network/network_columns.h"
#include "network/network_editor.h"
#include "network/network_export.h"
#include "network/network_files.h"
#include "network/network_import.h"
#include "network/network_import_report.h"
#include "network/network_model.h"
#include "network/network_overview.h"
#include "network/network_question.h"
#include "text/named_output.h"
#include "window_fixture.h"

namespace ui {
namespace {

struct OpenNetworkPage : WindowFixture {
    void open() {
        QFile::remove(NetworkFiles::draftFile());
        window->findChild<PageStack*>()->showPage(u"network"_s);
        settles();
    }
    ~OpenNetworkPage() override {
        window.reset();
        QFile::remove(NetworkFiles::draftFile());
    }

    NetworkModel* model() const { return window->findChild<NetworkModel*>(); }
    NetworkEditor* editor() const { return window->findChild<NetworkEditor*>(); }
    bool settles() const {
        return QTest::qWaitFor([this] { return !model()->isChecking() && model()->now().text == model()->text(); }, 30'000);
    }
    QPushButton* button(const QString& text) const {
        for (auto* each : shownPage()->findChildren<QPushButton*>())
            if (each->text() == text && each->isVisible()) return each;
        return nullptr;
    }
    QString written(const QByteArray& text) const {
        const QString name = folder.filePath(u"mine.network"_s);
        QFile file(name);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(text);
        return name;
    }
};

struct NetworkPageTest : OpenNetworkPage {
    NetworkPageTest() { open(); }
};

TEST_F(OpenNetworkPage, AModelWithoutATemplateLeavesTheChoiceToTheUser) {
    settings.set(u"dataset.kind"_s, u"glyphs"_s);
    settings.set(u"model.kind"_s, u"dcgan"_s);
    ASSERT_FALSE(NetworkFiles::isTemplate(u"dcgan"_s));
    open();
    standsStill();
    EXPECT_FALSE(editor()->isVisible());
    ASSERT_NE(button(u"Import ONNX…"_s), nullptr);
    EXPECT_TRUE(button(u"Import ONNX…"_s)->isEnabled());
    EXPECT_FALSE(button(u"Export"_s)->isEnabled());
    button(u"Template"_s)->menu()->actions().front()->trigger();
    ASSERT_TRUE(settles());
    EXPECT_TRUE(editor()->isVisible());
    EXPECT_FALSE(model()->isReadOnly());
}

QString writtenModel(const QTemporaryDir& folder, const std::string& text) {
    engine::NetworkData data;
    data.inputs = {{.field = "image", .sizes = {1, 8, 8}}};
    data.outputs = 5;
    const QString name = folder.filePath(u"mine.onnx"_s);
    writerOf(name, QByteArray::fromStdString(engine::network_to_onnx(text, data, 3)))();
    return name;
}

constexpr const char* importedText = "network(image):\n  conv: Conv2d(4, 3)\n  ReLU\n  Flatten\n  fc: Linear(outputs)\n";

TEST_F(NetworkPageTest, AnOnnxModelIsReadReportedAndBecomesTheNextRun) {
    auto* import = window->findChild<NetworkImport*>();
    commands.openPath(writtenModel(folder, importedText));
    ASSERT_TRUE(QTest::qWaitFor([import] { return !import->isReading(); }, 30'000));
    ASSERT_NE(import->found(), nullptr) << (import->problem() ? import->problem()->what() : "");
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model()->isReadOnly());
    EXPECT_TRUE(model()->text().contains(u"Conv2d(4, 3)"_s));
    EXPECT_EQ(model()->data().outputs, 5);
    EXPECT_EQ(model()->data().inputs.front().sizes, (std::vector<std::int64_t>{1, 8, 8}));
    auto* report = window->findChild<NetworkImportReport*>();
    ASSERT_TRUE(report->isVisible());
    EXPECT_LE(report->height(), shownPage()->height() / 2 + report->fontMetrics().height());
    auto* rows = report->findChild<QListWidget*>();
    const auto convolutions = rows->findItems(u"1 Conv2d"_s, Qt::MatchContains);
    ASSERT_FALSE(convolutions.isEmpty());
    emit rows->itemClicked(convolutions.front());
    EXPECT_EQ(editor()->currentLine(), 2);
    button(u"Copy the export line"_s)->click();
    EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(u"torch.onnx.export"_s));
    button(u"Edit as text"_s)->click();
    EXPECT_FALSE(model()->isReadOnly());
    ASSERT_TRUE(QTest::qWaitFor([this] { return !settings.config().model.init_from.empty(); }, 30'000));
    EXPECT_TRUE(QFile::exists(QString::fromStdString(settings.config().model.init_from)));
    EXPECT_TRUE(settings.config().model.new_head);
    EXPECT_FALSE(report->isVisible());
    QFile::remove(QString::fromStdString(settings.config().model.init_from));
}

TEST_F(NetworkPageTest, AFileThatIsNoModelLeavesTheTextAndSaysWhy) {
    auto* import = window->findChild<NetworkImport*>();
    const QString before = model()->text();
    const QString name = folder.filePath(u"broken.onnx"_s);
    writerOf(name, "no model"_ba)();
    commands.openPath(name);
    ASSERT_TRUE(QTest::qWaitFor([import] { return !import->isReading(); }, 30'000));
    EXPECT_EQ(import->found(), nullptr);
    EXPECT_EQ(model()->text(), before);
    EXPECT_EQ(button(u"Train"_s), nullptr);
    ASSERT_NE(button(u"Close"_s), nullptr);
    button(u"Close"_s)->click();
    EXPECT_TRUE(import->isIdle());
    EXPECT_FALSE(window->findChild<NetworkImportReport*>()->isVisible());
}

TEST_F(NetworkPageTest, IsTheSecondTabWithALetterAndMovesNoDigit) {
    auto* stack = window->findChild<PageStack*>();
    EXPECT_EQ(stack->row()->tabText(1), u"Network"_s);
    QTest::keyClick(window.get(), Qt::Key_3, Qt::ControlModifier);
    standsStill();
    EXPECT_EQ(stack->shown().name, u"xray"_s);
    QTest::keyClick(window.get(), Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    standsStill();
    EXPECT_EQ(stack->shown().name, u"network"_s);
}

TEST_F(NetworkPageTest, BeginsWithTheTemplateOfTheModelAndEditsACopy) {
    EXPECT_TRUE(model()->isReadOnly());
    EXPECT_FALSE(model()->isStale());
    EXPECT_TRUE(model()->text().contains(u"network("_s));
    QPushButton* edit = button(u"Edit a copy"_s);
    ASSERT_NE(edit, nullptr);
    edit->click();
    EXPECT_FALSE(model()->isReadOnly());
    standsStill();
    EXPECT_FALSE(window->findChild<NetworkQuestion*>()->isVisible());
    EXPECT_TRUE(editor()->hasFocus());
}

TEST_F(NetworkPageTest, TakesTheSizesOfTheSettingsData) {
    settings.set(u"dataset.kind"_s, u"glyphs"_s);
    settings.set(u"model.kind"_s, u"lenet"_s);
    standsStill();
    ASSERT_TRUE(settles());
    window->findChild<NetworkFiles*>()->showTemplate(u"lenet"_s);
    ASSERT_TRUE(settles());
    const auto* glyphs = engine::find_dataset("glyphs");
    EXPECT_EQ(model()->data().inputs[0].sizes, glyphs->sample_shape);
    EXPECT_EQ(model()->data().outputs, glyphs->classes);
    EXPECT_FALSE(model()->dataTitle().isEmpty());
}

TEST_F(NetworkPageTest, AFileThatIsOpenedAsksOnceAboutChangesThatAreNotSaved) {
    button(u"Edit a copy"_s)->click();
    editor()->moveCursor(QTextCursor::End);
    QTest::keyClicks(editor(), u"# mine"_s);
    const QString before = model()->text();
    const QString file = written("network(image):\n  Flatten\n  fc: Linear(outputs)\n");
    commands.openPath(file);
    standsStill();
    EXPECT_EQ(model()->text(), before);
    ASSERT_NE(button(u"Drop them"_s), nullptr);
    button(u"Go on with this text"_s)->click();
    standsStill();
    EXPECT_EQ(button(u"Drop them"_s), nullptr);
    EXPECT_EQ(model()->text(), before);
    commands.openPath(file);
    standsStill();
    button(u"Drop them"_s)->click();
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model()->text().startsWith(u"network(image):\n  Flatten"_s));
    EXPECT_EQ(window->findChild<NetworkFiles*>()->file(), file);
}

TEST_F(NetworkPageTest, SizesOfATypicalFileAreNotThoseOfTheData) {
    settings.set(u"dataset.kind"_s, u"image-folder"_s);
    window->findChild<NetworkFiles*>()->showTemplate(u"lenet"_s);
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model()->dataTitle().isEmpty());
}

TEST_F(NetworkPageTest, SavingATextThatIsSavedWritesNothing) {
    const QString file = written("network(image):\n  Flatten\n  fc: Linear(outputs)\n");
    ASSERT_TRUE(window->findChild<NetworkFiles*>()->open(file));
    ASSERT_TRUE(settles());
    const QByteArray theirs = "network(image):\n  Flatten\n  theirs: Linear(outputs)\n";
    written(theirs);
    editor()->setFocus();
    QTest::keyClick(editor(), Qt::Key_S, Qt::ControlModifier);
    EXPECT_FALSE(commands.works()->busy());
    QFile now(file);
    ASSERT_TRUE(now.open(QIODevice::ReadOnly));
    EXPECT_EQ(now.readAll(), theirs);
}

TEST_F(NetworkPageTest, ADraftIsOfferedAndTakesThePlaceOfTheTextOnRequest) {
    button(u"Edit a copy"_s)->click();
    editor()->moveCursor(QTextCursor::End);
    QTest::keyClicks(editor(), u"# mine"_s);
    const QString mine = model()->text();
    auto* files = window->findChild<NetworkFiles*>();
    files->setAside();
    ASSERT_TRUE(files->open(written("network(image):\n  Flatten\n  fc: Linear(outputs)\n")));
    ASSERT_NE(button(u"Go on with the draft"_s), nullptr);
    button(u"Go on with the draft"_s)->click();
    ASSERT_TRUE(settles());
    EXPECT_EQ(model()->text(), mine);
    standsStill();
    EXPECT_EQ(button(u"Go on with the draft"_s), nullptr);
}

TEST_F(NetworkPageTest, TabLeavesTextThatCannotBeChangedAndCtrlTabAnyText) {
    editor()->setFocus();
    QTest::keyClick(editor(), Qt::Key_Tab);
    EXPECT_FALSE(editor()->hasFocus());
    button(u"Edit a copy"_s)->click();
    editor()->setFocus();
    QTest::keyClick(editor(), Qt::Key_Tab);
    EXPECT_TRUE(editor()->hasFocus());
    QTest::keyClick(editor(), Qt::Key_Tab, Qt::ControlModifier);
    EXPECT_FALSE(editor()->hasFocus());
}

TEST_F(NetworkPageTest, ExportListsTheFormsOfTheEngine) {
    QPushButton* button = this->button(u"Export"_s);
    ASSERT_NE(button, nullptr);
    EXPECT_TRUE(button->isEnabled());
    EXPECT_EQ(button->menu()->actions().size(), static_cast<qsizetype>(networkExports().size()));
    this->button(u"Edit a copy"_s)->click();
    editor()->moveCursor(QTextCursor::End);
    QTest::keyClicks(editor(), u"  Dense(3)"_s);
    ASSERT_TRUE(settles());
    EXPECT_FALSE(button->isEnabled());
}

TEST_F(NetworkPageTest, AModelThatPyTorchPrintedIsConvertedOnRequest) {
    button(u"Edit a copy"_s)->click();
    editor()->selectAll();
    QGuiApplication::clipboard()->setText(u"Sequential(\r\n\u00a0 (0): Flatten(start_dim=1, end_dim=-1)\r\n  (1): Linear(in_features=48, out_features=10, bias=True)\r\n)\r\n"_s);
    editor()->paste();
    standsStill();
    QPushButton* convert = button(u"Convert it"_s);
    ASSERT_NE(convert, nullptr);
    convert->click();
    EXPECT_EQ(model()->text(), u"network(image):\n  Flatten(1)\n  Linear(10)\n"_s);
    EXPECT_EQ(button(u"Convert it"_s), nullptr);
    editor()->undo();
    EXPECT_TRUE(model()->text().startsWith(u"Sequential("_s));
}

TEST_F(NetworkPageTest, AClickOnALayerOfAnEarlierTextLeavesTheCursor) {
    button(u"Edit a copy"_s)->click();
    auto* overview = window->findChild<NetworkOverview*>();
    const QPoint first(overview->width() / 2, NetworkStrip::headHeight() + size::grid + 1);
    editor()->moveCursor(QTextCursor::End);
    QTest::keyClicks(editor(), u"  Dense(3)"_s);
    ASSERT_TRUE(settles());
    ASSERT_TRUE(model()->isStale());
    editor()->goTo(1);
    QTest::mouseClick(overview, Qt::LeftButton, {}, first);
    EXPECT_EQ(editor()->currentLine(), 1);
    editor()->undo();
    ASSERT_TRUE(settles());
    ASSERT_FALSE(model()->isStale());
    editor()->goTo(1);
    QTest::mouseClick(overview, Qt::LeftButton, {}, first);
    EXPECT_GT(editor()->currentLine(), 1);
}

TEST_F(NetworkPageTest, EnterOpensTheTypesOfALineUnlessTheirColumnIsHidden) {
    ASSERT_TRUE(settles());
    const auto& lines = model()->now().rows.lines;
    const auto layer = std::ranges::find_if(lines, [](const auto& line) { return line.row >= 0; });
    ASSERT_NE(layer, lines.end());
    editor()->goTo(static_cast<int>(layer - lines.begin()) + 1);
    auto* columns = window->findChild<NetworkColumns*>();
    columns->setHidden(NetworkColumns::predicted, true);
    QTest::keyClick(columns, Qt::Key_Return);
    EXPECT_EQ(columns->findChild<QMenu*>(), nullptr);
    columns->setHidden(NetworkColumns::predicted, false);
    QTest::keyClick(columns, Qt::Key_Return);
    auto* menu = columns->findChild<QMenu*>();
    ASSERT_NE(menu, nullptr);
    menu->close();
}

TEST_F(NetworkPageTest, ArrowKeysMoveByCellAndEnterOpensTheMenuOfTheHead) {
    ASSERT_TRUE(settles());
    auto* columns = window->findChild<NetworkColumns*>();
    columns->setFocus();
    editor()->goTo(2);
    QTest::keyClick(columns, Qt::Key_Left);
    EXPECT_EQ(columns->currentColumn(), NetworkColumns::saved) << "the cost is hidden at first";
    QTest::keyClick(columns, Qt::Key_Left);
    EXPECT_EQ(columns->currentColumn(), NetworkColumns::parameters);
    QTest::keyClick(columns, Qt::Key_Return);
    EXPECT_EQ(columns->findChild<QMenu*>(), nullptr) << "a figure has no menu";
    QTest::keyClick(columns, Qt::Key_Up);
    EXPECT_EQ(editor()->currentLine(), 1);
    EXPECT_FALSE(columns->isAtHead());
    QTest::keyClick(columns, Qt::Key_Up);
    EXPECT_TRUE(columns->isAtHead());
    EXPECT_TRUE(columns->spoken().contains(u"parameters"_s));
    QTest::keyClick(columns, Qt::Key_Return);
    auto* menu = columns->findChild<QMenu*>();
    ASSERT_NE(menu, nullptr);
    EXPECT_GE(menu->actions().size(), NetworkColumns::columnCount);
    menu->close();
    QTest::keyClick(columns, Qt::Key_Down);
    EXPECT_FALSE(columns->isAtHead());
    EXPECT_EQ(editor()->currentLine(), 1);
}

TEST_F(NetworkPageTest, ARunThatStartsAtOnceTrainsTheTextAsItStands) {
    settings.set(u"dataset.kind"_s, u"glyphs"_s);
    settings.set(u"model.kind"_s, u"lenet"_s);
    window->findChild<NetworkFiles*>()->showTemplate(u"lenet"_s);
    button(u"Edit a copy"_s)->click();
    ASSERT_TRUE(settles());
    QTextCursor cursor = model()->document()->find(u"120"_s);
    ASSERT_FALSE(cursor.isNull());
    cursor.insertText(u"121"_s);
    ASSERT_TRUE(model()->isChecking());
    emit commands.settingsNeeded();
    EXPECT_THAT(settings.config().model.network.all, testing::Contains("  fc1: Linear(121)"));
    model()->document()->find(u"Linear(84)"_s).insertText(u"Dense(84)"_s);
    emit commands.settingsNeeded();
    EXPECT_FALSE(commands.buttons().compare.enabled) << "the text has an error";
    ASSERT_TRUE(settles());
}

TEST_F(NetworkPageTest, LinesShowTheBytesThatAStepKeeps) {
    ASSERT_TRUE(settles());
    const auto& shown = model()->now();
    ASSERT_EQ(shown.memory.saved.size(), shown.network.rows.size());
    EXPECT_EQ(shown.memory.batch_size, settings.config().batch_size);
    EXPECT_EQ(shown.memory.steps.size(), settings.comparison().size());
    EXPECT_TRUE(std::ranges::any_of(shown.rows.lines, [](const auto& line) { return line.saved > 0; }));
    const double before = shown.memory.steps.front().memory.peak;
    settings.set(u"batch_size"_s, QString::number(2 * settings.config().batch_size));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model()->isChecking() && model()->now().memory.batch_size == settings.config().batch_size; }, 30'000));
    EXPECT_GT(model()->now().memory.steps.front().memory.peak, before);
}

TEST_F(NetworkPageTest, TypesFollowTheFieldsOfThePrecision) {
    settings.set(u"precision.preset"_s, u"amp-fp16"_s);
    model()->setPreset("amp-fp16");
    ASSERT_TRUE(settles());
    const auto shows = [this](const char* type) { return std::ranges::any_of(model()->now().types.rows, [type](const std::string& each) { return each.find(type) != each.npos; }); };
    ASSERT_FALSE(shows("bf16"));
    settings.set(u"precision.autocast"_s, u"bf16"_s);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !model()->isChecking() && shows("bf16"); }, 30'000));
}

TEST_F(NetworkPageTest, ATwinTrainsTheTextAsItStands) {
    const QSignalSpy asked(&commands, &Commands::settingsNeeded);
    settings.load(settings.config(), {u"fp32"_s});
    commands.startTwin({});
    EXPECT_EQ(asked.count(), 1) << "also where one precision is too few";
}

}  // namespace
}  // namespace ui
