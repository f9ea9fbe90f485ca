// The settings in the window: their editors, invalid values, and what is remembered.
#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QListWidget>
#include <QMenu>
#include <QTemporaryDir>
#include <QThreadPool>
#include <QToolButton>

#include "engine/settings/catalog.h"
#include "help/help_page.h"
#include "models/settings_model.h"
#include "panels/settings/column_picker.h"
#include "panels/settings/settings_field.h"
#include "panels/settings/settings_panel.h"
#include "theme/theme.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct SettingsWindowTest : WindowFixture {
    SettingsWindowTest() {
        QThreadPool::globalInstance()->waitForDone();
        inMore = window->findChildren<SettingsField*>().size();
        window->findChild<QToolButton*>(u"allSettings"_s)->click();
        inMore = window->findChildren<SettingsField*>().size() - inMore;
    }

    SettingsField* field(const QString& path) const {
        for (auto* each : window->findChildren<SettingsField*>()) {
            if (each->path() == path) return each;
        }
        ADD_FAILURE() << "no field " << path.toStdString();
        return nullptr;
    }
    bool offered(const QString& path) const { return !field(path)->parentWidget()->isHidden(); }
    QLabel* errorOf(const QString& path) const {
        return field(path)->parentWidget()->findChild<QLabel*>(u"fieldError"_s);
    }
    QAbstractButton* button(const QString& text) const {
        for (auto* each : window->findChildren<QAbstractButton*>()) {
            if (each->text() == text) return each;
        }
        return nullptr;
    }
    qsizetype inMore = 0;  ///< fields that were made by the link to all settings
};

/// The window is painted before that.
TEST_F(SettingsWindowTest, MakeTheFieldsThatAreNotInSightOnlyOnceTheyAreWanted) {
    EXPECT_GT(inMore, 20);
    window->findChild<QToolButton*>(u"allSettings"_s)->click();
    window->findChild<QToolButton*>(u"allSettings"_s)->click();
    const auto in_window = [](const engine::FieldInfo& info) { return !info.in_files; };
    EXPECT_EQ(window->findChildren<SettingsField*>().size(),
              std::ranges::count_if(engine::fields(), in_window));
}

TEST_F(SettingsWindowTest, AFieldThatNamesAFileOrAFolderHasAButtonToChooseOne) {
    for (const auto& [path, words] : {std::pair{u"log.tensorboard"_s, u"Choose a folder…"_s},
                                      {u"dataset.tokenizer"_s, u"Choose a file…"_s},
                                      {u"model.init_from"_s, u"Choose a file…"_s}}) {
        auto* button = field(path)->editor()->findChild<QToolButton*>();
        ASSERT_NE(button, nullptr) << path.toStdString();
        EXPECT_EQ(button->defaultAction()->text(), words);
        field(path)->setLocked(true);
        EXPECT_FALSE(button->defaultAction()->isEnabled());
        field(path)->setLocked(false);
        EXPECT_TRUE(button->defaultAction()->isEnabled());
    }
    EXPECT_EQ(field(u"model.init_key"_s)->editor()->findChild<QToolButton*>(), nullptr);
}

TEST_F(SettingsWindowTest, TheButtonToChooseAFileFollowsTheTheme) {
    const auto drawn = [this] {
        auto* button = field(u"model.init_from"_s)->editor()->findChild<QToolButton*>();
        return button->icon().pixmap(16, 16).toImage();
    };
    theme.setChoice(Theme::Choice::light);
    const QImage light = drawn();
    theme.setChoice(Theme::Choice::dark);
    EXPECT_TRUE(drawn() != light);
    theme.setChoice(Theme::Choice::system);
}

TEST_F(SettingsWindowTest, TheFocusFindsAFieldThatIsNotInSight) {
    window = std::make_unique<MainWindow>(context);
    window->QWidget::show();
    window->activateWindow();
    auto* panel = window->findChild<SettingsPanel*>();
    panel->focusField(u"clip.kind"_s);
    standsStill();
    const auto* focused = window->focusWidget();
    ASSERT_NE(focused, nullptr);
    EXPECT_FALSE(focused->visibleRegion().isEmpty());
    EXPECT_TRUE(field(u"clip.kind"_s)->isAncestorOf(focused) || focused == field(u"clip.kind"_s));
}

TEST_F(SettingsWindowTest, OfferEveryFieldWithFewValuesAsAList) {
    for (const auto& info : engine::fields()) {
        if (info.in_files) continue;
        const QString path = QString::fromStdString(info.path);
        const auto* editor = field(path)->editor();
        const bool flag = !info.choices.empty() && info.choices.front().value == "true";
        if (path == u"dataset.target"_s) {  // the columns of the table, below
            EXPECT_NE(qobject_cast<const QComboBox*>(editor), nullptr);
        } else if (info.choices.empty()) {
            EXPECT_NE(qobject_cast<const QLineEdit*>(editor), nullptr) << info.path;
        } else if (flag && !info.optional) {
            EXPECT_NE(qobject_cast<const QCheckBox*>(editor), nullptr) << info.path;
        } else {
            const auto* list = qobject_cast<const QComboBox*>(editor);
            ASSERT_NE(list, nullptr) << info.path;
            EXPECT_GE(list->count(), 2) << info.path;
        }
    }
}

TEST_F(SettingsWindowTest, KeepTheirWidthUnderALargeModel) {
    window->resize(1280, 800);
    standsStill();
    const auto* panel = window->findChild<SettingsPanel*>();
    const int before = panel->width();
    settings.set(u"model.kind"_s, u"resnet152"_s);
    standsStill();
    bool told = false;
    for (const auto* each : panel->findChildren<QLabel*>())
        told = told || (each->text().contains(u"parameters"_s) && each->text().size() > 24);
    EXPECT_TRUE(told) << "so many parameters that the line is long";
    EXPECT_EQ(panel->width(), before);
}

TEST_F(SettingsWindowTest, ShowOnlyTheOptionsOfTheChosenOptimizer) {
    EXPECT_TRUE(offered(u"optimizer.momentum"_s));
    EXPECT_FALSE(offered(u"optimizer.beta1"_s));
    EXPECT_FALSE(offered(u"optimizer.max_grad_norm"_s));
    settings.set(u"optimizer.kind"_s, u"lamb"_s);
    EXPECT_FALSE(offered(u"optimizer.momentum"_s));
    EXPECT_TRUE(offered(u"optimizer.beta1"_s));
    EXPECT_TRUE(offered(u"optimizer.max_grad_norm"_s));
    EXPECT_FALSE(offered(u"clip.value"_s));
    settings.set(u"clip.kind"_s, u"norm"_s);
    EXPECT_TRUE(offered(u"clip.value"_s));
}

TEST_F(SettingsWindowTest, DescribeAnOptionAsTheChosenModelHasIt) {
    const QString path = u"model.options.hidden"_s;
    const auto* label = field(path)->parentWidget()->findChild<FieldLabel*>();
    EXPECT_EQ(label->text(), u"Hidden layers"_s);
    const QString layers = label->toolTip();
    settings.set(u"dataset.kind"_s, u"text-generated"_s);
    ASSERT_EQ(settings.text(u"model.kind"_s), u"rnn-lm"_s);
    EXPECT_EQ(label->text(), u"Hidden size"_s);
    EXPECT_NE(label->toolTip(), layers);
    EXPECT_EQ(field(path)->editor()->accessibleName(), u"Hidden size"_s);
    EXPECT_TRUE(helpPage(settings, path).contains(u"Hidden size"_s));
    settings.set(path, u"many"_s);
    EXPECT_TRUE(commands.buttons().start.why.startsWith(u"Hidden size: "_s));
    settings.set(u"dataset.kind"_s, u"spirals"_s);
    EXPECT_EQ(label->text(), u"Hidden layers"_s);
}

TEST_F(SettingsWindowTest, CountTheParametersForTheFileThatIsChosen) {
    const auto note = [this] {
        for (const auto* label : window->findChildren<QLabel*>()) {
            if (label->text().contains(u" parameters"_s)) return label->text();
        }
        return QString();
    };
    EXPECT_FALSE(note().isEmpty()) << "the generated data need no reading";
    QFile file(folder.filePath(u"table.csv"_s));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("a,b,c,y\n1,2,3,4.5\n2,2,1,0.5\n3,1,3,7\n4,4,4,2\n5,6,7,8\n");
    file.close();
    settings.set(u"dataset.kind"_s, u"csv"_s);
    settings.set(u"model.options.hidden"_s, u"10"_s);
    EXPECT_EQ(note(), QString());
    settings.set(u"dataset.path"_s, file.fileName());
    EXPECT_EQ(note(), QString()) << "before it is read";
    ASSERT_TRUE(QTest::qWaitFor([&] { return !note().isEmpty(); }, 300'000));
    EXPECT_EQ(note(), u"51 parameters · 204 B"_s);  // 3 * 10 + 10 + 10 + 1
    settings.set(u"dataset.path"_s, folder.filePath(u"none.csv"_s));
    EXPECT_EQ(note(), QString());
}

TEST_F(SettingsWindowTest, ShowPicturesAndClassesOfAFolder) {
    for (int i = 0; i < 20; ++i) {
        const QString name = i % 2 == 0 ? u"ants"_s : u"<bees>"_s;
        QDir().mkpath(folder.filePath(u"pictures/"_s + name));
        QImage image(40, 30, QImage::Format_RGB888);
        image.fill(QColor::fromHsv(i * 15, 200, 200));
        ASSERT_TRUE(image.save(folder.filePath(u"pictures/%1/%2.png"_s.arg(name).arg(i))));
    }
    settings.set(u"dataset.kind"_s, u"image-folder"_s);
    EXPECT_TRUE(offered(u"dataset.image_size"_s));
    EXPECT_TRUE(offered(u"dataset.augment"_s));
    settings.set(u"dataset.path"_s, folder.filePath(u"pictures"_s));
    const auto counts = [this] {
        for (const auto* label : window->findChildren<QLabel*>()) {
            if (label->text().contains(u"16 train"_s)) return label->text();
        }
        return QString();
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return !counts().isEmpty(); }, 300'000));
    EXPECT_TRUE(counts().contains(u"4 test"_s));
    EXPECT_TRUE(counts().contains(u"2 classes (&lt;bees&gt; 8, ants 8)"_s))
        << counts().toStdString();
    for (const auto* label : window->findChildren<QLabel*>()) {
        if (label->accessibleName() != u"Samples of the data set"_s) continue;
        EXPECT_FALSE(label->isHidden());
        EXPECT_FALSE(label->pixmap().isNull());
        EXPECT_TRUE(label->accessibleDescription().contains(u"ants"_s));
    }
    settings.set(u"dataset.path"_s, folder.filePath(u"none"_s));
    EXPECT_TRUE(QTest::qWaitFor([&] { return counts().isEmpty(); }, 300'000));
}

TEST_F(SettingsWindowTest, PutAnErrorUnderItsField) {
    EXPECT_TRUE(errorOf(u"epochs"_s)->isHidden());
    settings.set(u"epochs"_s, u"-1"_s);
    standsStill();
    auto* error = errorOf(u"epochs"_s);
    ASSERT_TRUE(error->isVisible());
    EXPECT_EQ(error->text(), u"\"-1\" is not valid. Use a whole number from 0 to 1,000,000,000."_s);
    const auto bottom = field(u"epochs"_s)->mapToGlobal(QPoint(0, field(u"epochs"_s)->height()));
    const int gap = error->mapToGlobal(QPoint()).y() - bottom.y();
    EXPECT_TRUE(gap >= 0 && gap < 8) << gap;
    settings.reset(u"epochs"_s);
    EXPECT_TRUE(error->isHidden());
}

TEST_F(SettingsWindowTest, ShowAWordFromAFileThatIsNoChoice) {
    settings.set(u"precision.scaler"_s, u"foo"_s);
    EXPECT_EQ(errorOf(u"precision.scaler"_s)->text(),
              u"\"foo\" is not valid. Use off, static or dynamic."_s);
    const auto* list = qobject_cast<QComboBox*>(field(u"precision.scaler"_s)->editor());
    EXPECT_EQ(list->currentText(), u"foo"_s);
    EXPECT_TRUE(button(u"Start"_s)->toolTip().startsWith(u"Loss scaling: \"foo\" is not valid."_s));
    settings.reset(u"precision.scaler"_s);
    EXPECT_EQ(list->currentText(), u"Preset: Dynamic"_s);
    EXPECT_EQ(list->findText(u"foo"_s), -1);
}

TEST_F(SettingsWindowTest, MarkAChangedFieldWithADotThatMovesNothing) {
    auto* dot = field(u"seed"_s)->findChild<QWidget*>(u"changed"_s);
    ASSERT_NE(dot, nullptr);
    EXPECT_TRUE(dot->isHidden());
    const QSize before = field(u"seed"_s)->sizeHint();
    settings.set(u"seed"_s, u"7"_s);
    EXPECT_FALSE(dot->isHidden());
    EXPECT_EQ(field(u"seed"_s)->sizeHint(), before);
}

TEST_F(SettingsWindowTest, OfferNoPrecisionThatTheDeviceLacks) {
    const QString why = u"TF32 needs an NVIDIA Ampere or newer GPU."_s;
    DeviceLimits limits;
    limits.precisions[u"tf32"_s] = engine::msg("TF32 needs an NVIDIA Ampere or newer GPU.");
    settings.setLimits(limits);
    QAction* add = nullptr;
    for (auto* action : window->findChildren<QAction*>()) {
        if (action->toolTip() == why) add = action;
    }
    ASSERT_NE(add, nullptr);
    EXPECT_FALSE(add->isEnabled());
    const auto* single = qobject_cast<QComboBox*>(field(u"precision.preset"_s)->editor());
    const auto entry = single->model()->index(single->findData(u"tf32"_s), 0);
    EXPECT_FALSE(entry.flags() & Qt::ItemIsEnabled);
    // A file may still contain it; then it is rejected before the start.
    settings.setComparison({u"fp32"_s, u"tf32"_s});
    EXPECT_FALSE(commands.buttons().compare.enabled);
    EXPECT_EQ(commands.buttons().compare.why, why);
    standsStill();
    const auto errors = window->findChildren<QLabel*>(u"fieldError"_s);
    EXPECT_TRUE(std::any_of(errors.begin(), errors.end(), [&](const auto* label) {
        return label->isVisible() && label->text() == why;
    }));
    EXPECT_TRUE(commands.buttons().start.enabled);
    settings.set(u"precision.preset"_s, u"tf32"_s);
    EXPECT_FALSE(commands.buttons().start.enabled);
    EXPECT_TRUE(errorOf(u"precision.preset"_s)->text().contains(why));
}

TEST_F(SettingsWindowTest, KnowThatACpuLacksTf32) {
    settings.set(u"device"_s, u"cpu"_s);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !settings.lacking(u"tf32"_s).isEmpty(); }, 300'000));
    EXPECT_TRUE(settings.lacking(u"fp32"_s).isEmpty());
}

TEST_F(SettingsWindowTest, TheComparedPrecisionsSayWhatOfTheSingleRunTheyKeep) {
    const auto* leftOut = window->findChild<QLabel*>(u"leftOut"_s);
    EXPECT_TRUE(leftOut->isHidden());
    settings.setComparison({u"fp32"_s, u"amp-fp16"_s});
    auto config = settings.config();
    config.precision.preset = "amp-fp16";
    config.precision.scaler = engine::ScalerMode::constant;
    config.precision.weights = engine::WeightFormat::fp32;
    settings.load(config);
    EXPECT_NE(button(u"FP32"_s), nullptr);
    EXPECT_NE(button(u"AMP FP16, static scale"_s), nullptr);
    EXPECT_EQ(leftOut->text(), u"Only in the single run: Weights."_s);
    EXPECT_FALSE(leftOut->isHidden());
    // Without any scale the choice of it must stay at hand.
    config.precision.scaler = engine::ScalerMode::off;
    settings.load(config);
    EXPECT_NE(button(u"AMP FP16, no scaling"_s), nullptr);
    EXPECT_TRUE(offered(u"precision.scaler"_s));
    EXPECT_FALSE(field(u"precision.scaler"_s)->parentWidget()->parentWidget()->isHidden());
}

TEST(SettingsMemory, KeepsSettingsAndComparedPrecisionsBetweenStarts) {
    QSettings().remove(u"settings"_s);
    {
        SettingsModel settings;
        const SettingsMemory memory(&settings);
        EXPECT_EQ(settings.config(), windowDefaults());
        settings.set(u"dataset.path"_s, u"/data/mnist"_s);
        settings.set(u"epochs"_s, u"9"_s);
        settings.setComparison({u"fp32"_s, u"amp-bf16"_s, u"pure-fp16"_s});
    }
    SettingsModel next;
    const SettingsMemory memory(&next);
    EXPECT_EQ(next.text(u"dataset.path"_s), u"/data/mnist"_s);
    EXPECT_EQ(next.text(u"epochs"_s), u"9"_s);
    EXPECT_EQ(next.comparison(), (QStringList{u"fp32"_s, u"amp-bf16"_s, u"pure-fp16"_s}));
    QSettings().remove(u"settings"_s);
}

TEST(SettingsMemory, KeepsAndTellsWhatThisVersionRejects) {
    const QTemporaryDir config;
    qputenv("XDG_CONFIG_HOME", config.path().toUtf8());
    const QByteArray last = R"({"epochs": 9, "precision": {"preset": "fp4-of-tomorrow", "scaler": "later"}})";
    QSettings().setValue(u"settings"_s, last);
    SettingsModel settings;
    const SettingsMemory memory(&settings);
    EXPECT_EQ(settings.text(u"epochs"_s), u"9"_s) << "what can be taken is taken";
    ASSERT_GE(settings.notes().size(), 2U);
    const QString note = QString::fromStdString(settings.notes().front().str());
    EXPECT_TRUE(note.contains(u"precision"_s)) << note.toStdString();
    EXPECT_TRUE(note.contains(u"later"_s) || note.contains(u"tomorrow"_s)) << note.toStdString();
    QFile kept(config.path() + u"/halftone/presets/rejected-settings.json"_s);
    ASSERT_TRUE(kept.open(QIODevice::ReadOnly));
    EXPECT_EQ(kept.readAll(), last);
    EXPECT_TRUE(settings.notes().back().str().find("rejected-settings.json") != std::string::npos);
    QSettings().remove(u"settings"_s);
    qunsetenv("XDG_CONFIG_HOME");
}

TEST_F(SettingsWindowTest, OfferTheColumnsOfATableAsItsTarget) {
    QFile table(folder.filePath(u"t.csv"_s));
    ASSERT_TRUE(table.open(QIODevice::WriteOnly));
    table.write("area,price,rooms\n");
    for (int i = 0; i < 40; ++i) table.write(QByteArray::number(i) + ",2,3\n");
    table.close();
    commands.openPath(table.fileName());
    ASSERT_TRUE(QTest::qWaitFor([&] { return settings.data() != nullptr; }, 300'000));
    const auto* list = qobject_cast<const QComboBox*>(field(u"dataset.target"_s)->editor());
    ASSERT_NE(list, nullptr);
    QStringList columns;
    for (int i = 0; i < list->count(); ++i) columns << list->itemData(i).toString();
    EXPECT_EQ(columns, QStringList({{}, u"area"_s, u"price"_s, u"rooms"_s}));
    settings.set(u"dataset.target"_s, u"price"_s);
    EXPECT_EQ(list->currentText(), u"price"_s);
}

TEST_F(SettingsWindowTest, ColumnsOfATableAreTickedInAListAndUnknownOnesFlaggedAtOnce) {
    QFile table(folder.filePath(u"t.csv"_s));
    ASSERT_TRUE(table.open(QIODevice::WriteOnly));
    table.write("area,\"floor, roof\",rooms,price\n");
    for (int i = 0; i < 40; ++i) table.write(QByteArray::number(i) + ",2,3,4\n");
    table.close();
    commands.openPath(table.fileName());
    ASSERT_TRUE(QTest::qWaitFor([&] { return settings.data() != nullptr; }, 300'000));
    for (const char* path : {"dataset.columns", "dataset.without", "dataset.categorical"}) {
        const auto* picker = field(QString::fromLatin1(path))->editor()->findChild<ColumnPicker*>();
        ASSERT_NE(picker, nullptr) << path;
        EXPECT_EQ(picker->columns(),
                  QStringList({u"area"_s, u"floor, roof"_s, u"rooms"_s, u"price"_s}));
    }
    auto* edit = field(u"dataset.without"_s)->editor();
    QTest::keyClick(edit, Qt::Key_Down, Qt::AltModifier);
    auto* list = edit->findChild<QListWidget*>(u"columnPicker"_s);
    ASSERT_TRUE(list != nullptr && list->isVisible());
    QTest::keyClick(list, Qt::Key_Space);
    EXPECT_EQ(settings.text(u"dataset.without"_s), u"area"_s);
    EXPECT_EQ(list->item(0)->checkState(), Qt::Checked);
    list->setCurrentRow(1);
    QTest::keyClick(list, Qt::Key_Space);
    EXPECT_EQ(settings.columnsOf(u"dataset.without"_s),
              QStringList({u"area"_s, u"floor, roof"_s}));
    list->setCurrentRow(0);
    QTest::keyClick(list, Qt::Key_Space);
    EXPECT_EQ(settings.columnsOf(u"dataset.without"_s), QStringList({u"floor, roof"_s}));
    list->hide();
    settings.set(u"dataset.without"_s, u"room"_s);
    EXPECT_TRUE(settings.errorAt(u"dataset.without"_s).contains(u"rooms"_s))
        << settings.errorAt(u"dataset.without"_s).toStdString();
    settings.set(u"dataset.without"_s, u"rooms"_s);
    EXPECT_EQ(settings.errorAt(u"dataset.without"_s), QString());
}

TEST_F(SettingsWindowTest, ANumberTakesNeitherLettersNorSpace) {
    auto* seed = qobject_cast<QLineEdit*>(field(u"seed"_s)->editor());
    seed->setFocus();
    seed->selectAll();
    QTest::keyClicks(seed, u" 4x2s "_s);
    EXPECT_EQ(seed->text(), u"42"_s);
    auto* rate = qobject_cast<QLineEdit*>(field(u"optimizer.lr"_s)->editor());
    rate->setFocus();
    rate->selectAll();
    QTest::keyClicks(rate, u"3e-4"_s);
    QTest::keyClick(rate, Qt::Key_Return);
    EXPECT_EQ(settings.text(u"optimizer.lr"_s), u"0.0003"_s);
}

/// Undo after a field: the change, not the letters of it.
TEST_F(SettingsWindowTest, CtrlZTakesBackAChangeOfTheSettings) {
    auto* seed = qobject_cast<QLineEdit*>(field(u"seed"_s)->editor());
    const QString before = seed->text();
    standsStill();
    seed->setFocus();
    seed->selectAll();
    QTest::keyClicks(seed, u"77"_s);
    QTest::keyClick(seed, Qt::Key_Return);
    EXPECT_EQ(settings.text(u"seed"_s), u"77"_s);
    auto* undo = window->findChild<QAction*>(u"undoSettings"_s);
    ASSERT_NE(undo, nullptr);
    EXPECT_TRUE(undo->isEnabled());
    QTest::keyClick(seed, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(settings.text(u"seed"_s), before);
    EXPECT_EQ(seed->text(), before);
    QTest::keyClick(seed, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(settings.text(u"seed"_s), u"77"_s);
}

TEST_F(SettingsWindowTest, OptionsOfANetworkFileHaveFieldsAndLeaveWithIt) {
    const auto fieldsOf = [this](const QString& path) {
        return std::ranges::count_if(window->findChildren<SettingsField*>(), [&](auto* each) {
            return each->path() == path && each->isVisibleTo(window.get());
        });
    };
    QTemporaryDir folder;
    const QString file = folder.filePath(u"own.network"_s);
    const auto write = [&](const char* option) {
        QFile out(file);
        EXPECT_TRUE(out.open(QIODevice::WriteOnly));
        out.write(QByteArray("option ") + option +
                  " = 16 in 1..64\nnetwork(image):\n  Flatten\n  fc1: Linear(" + option +
                  ")\n  fc2: Linear(outputs)\n");
    };
    EXPECT_FALSE(offered(u"model.path"_s));
    write("size");
    settings.set(u"model.path"_s, file);
    EXPECT_TRUE(offered(u"model.path"_s));
    EXPECT_EQ(fieldsOf(u"model.options.size"_s), 1);
    auto* size = qobject_cast<QLineEdit*>(field(u"model.options.size"_s)->editor());
    size->setFocus();
    size->selectAll();
    QTest::keyClicks(size, u"99"_s);
    QTest::keyClick(size, Qt::Key_Return);
    EXPECT_FALSE(settings.errors().empty());
    write("depth");
    settings.set(u"model.path"_s, QString());
    settings.set(u"model.path"_s, file);
    EXPECT_EQ(fieldsOf(u"model.options.size"_s), 0);
    EXPECT_EQ(fieldsOf(u"model.options.depth"_s), 1);
    for (const auto& error : settings.errors())
        EXPECT_NE(error.field, "model.options.size") << "an option of the text before";
    settings.set(u"model.kind"_s, u"lenet"_s);
    EXPECT_EQ(fieldsOf(u"model.options.depth"_s), 0);
    EXPECT_FALSE(offered(u"model.path"_s));
}

}  // namespace
}  // namespace ui
