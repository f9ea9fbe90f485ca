#include "help/help_topics.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>

#include "engine/settings/catalog.h"
#include "help/help_page.h"
#include "models/settings_model.h"
#include "text/language.h"
#include "widgets/key_bindings.h"

namespace ui {
namespace {

struct HelpTopics {
    Q_DECLARE_TR_FUNCTIONS(HelpTopics)
public:
    static std::vector<std::pair<QString, QString>> ideas();
    static std::vector<std::pair<QString, QString>> words();
    static std::vector<std::pair<QString, QString>> keys();
};

QString page(const QString& title, const QString& body) {
    return u"<h3>%1</h3>%2"_s.arg(title.toHtmlEscaped(), body);
}

QString paragraph(const QString& text) { return u"<p>%1</p>"_s.arg(text.toHtmlEscaped()); }

QString table(const std::vector<std::pair<QString, QString>>& rows) {
    QString html = u"<table cellspacing='6'>"_s;
    for (const auto& [left, right] : rows) {
        html += u"<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>"_s.arg(left.toHtmlEscaped(),
                                                                            right.toHtmlEscaped());
    }
    return html + u"</table>"_s;
}

/// The key that a command has now; the page is written anew whenever it is shown.
QString keyOf(const QString& command, const QString& usual) {
    const auto keys = KeyBindings::keys(command, {QKeySequence(usual)});
    return keys.isEmpty() ? u"–"_s : keys.front().toString(QKeySequence::NativeText);
}

std::vector<std::pair<QString, QString>> HelpTopics::ideas() {
    return {{tr("Number formats"), formatsIdea()},
            {tr("Loss scaling"), scalingIdea()},
            {tr("Skipped steps"),
             tr("When a gradient is infinite or NaN, the scaler skips the step: the weights stay "
                "as they are and the scale backs off. Skips in the first steps are calibration. "
                "Skip after skip, even at a low scale, means that the computation itself yields a "
                "NaN or an infinity: lowering the scale cannot fix that.")},
            {tr("Master weights"),
             tr("An update below half a unit in the last place of its weight is rounded away. In "
                "FP16 that is one part in 2,048 to 4,096 of the weight, so late in training most "
                "updates vanish. AMP and O2 therefore keep the weights in FP32.")},
            {tr("Comparing precisions"),
             tr("Compare trains the same network with the same data order and initial weights once "
                "in each precision. The first one is the baseline. A difference counts only if it "
                "is larger than the noise between seeds or, with one seed, between steps.")}};
}

std::vector<std::pair<QString, QString>> HelpTopics::words() {
    return {{tr("AMP"), tr("automatic mixed precision: autocast and loss scaling together")},
            {tr("Autocast"), tr("chooses for each operation to compute in 16 bits or in FP32")},
            {tr("Baseline"), tr("the run that the others are compared with")},
            {tr("Headroom"),
             tr("bits between the largest scaled gradient and the largest finite FP16 number")},
            {tr("Max safe scale"), tr("largest loss scale at which no gradient overflows")},
            {tr("Overflow"), tr("a result too large for its format; it becomes infinite")},
            {tr("Subnormal"), tr("smaller than the smallest normal number, with fewer digits")},
            {tr("Underflow"), tr("a result too small for its format; it becomes 0")},
            {tr("Update"), tr("a step that changed the weights; a skipped step is none")}};
}

std::vector<std::pair<QString, QString>> HelpTopics::keys() {
    return {{keyOf(u"run/compare"_s, u"Ctrl+Return"_s), tr("Compare, or run the lesson")},
            {keyOf(u"run/start"_s, u"Ctrl+R"_s), tr("Start one run")},
            {keyOf(u"run/pause"_s, u"Space"_s),
             tr("Pause or resume; it types where text is typed, and presses a button or box")},
            {tr("Return"), tr("Press the focused button")},
            {keyOf(u"run/step"_s, u"S"_s), tr("One step, when paused or with nothing on screen")},
            {keyOf(u"run/stop"_s, u"Ctrl+."_s), tr("Stop")},
            {keyOf(u"run/evaluate"_s, u"E"_s), tr("Evaluate the test set now")},
            {keyOf(u"view/log"_s, u"Ctrl+L"_s), tr("Logarithmic loss axis on or off")},
            {keyOf(u"view/live"_s, u"L"_s), tr("Follow the newest step")},
            {keyOf(u"view/fit"_s, u"F"_s), tr("Reset zoom")},
            {keyOf(u"edit/undo"_s, u"Ctrl+Z"_s), tr("Take back the last change of the settings")},
            {keyOf(u"edit/redo"_s, u"Ctrl+Shift+Z"_s), tr("Make it again")},
            {keyOf(u"file/open"_s, u"Ctrl+O"_s) + u", "_s + keyOf(u"file/save"_s, u"Ctrl+S"_s),
             tr("Open, save settings")},
            {keyOf(u"run/command-line"_s, u"Ctrl+Shift+C"_s),
             tr("Copy the settings as a command line")},
            {u"Esc"_s, tr("Back from a plot that fills the centre")},
            {tr("Tab, Shift+Tab"), tr("Next or previous control")},
            {tr("On a plot: ← →"),
             tr("Move the selected step by one pixel; by ten with Shift, by one step with Ctrl")},
            {tr("On a plot: Home, End"), tr("Select the first or the last step")},
            {tr("On a plot: Page Up, Page Down"), tr("Move through a part that is zoomed")},
            {tr("On a plot: Alt + −"), tr("Zoom the values")},
            {tr("On a plot: Backspace"), tr("Back to the zoom before")},
            {tr("Mouse on a plot"),
             tr("Drag or turn the wheel to zoom the steps, with Ctrl the values of this plot; with "
                "Shift, or the middle button, move through them; double click to show all")},
            {u"[ ]"_s, tr("Less or more smoothing")},
            {tr("On a plot: + − 0"), tr("Zoom in, zoom out, reset zoom")},
            {u"Ctrl+1, Ctrl+2 …"_s, tr("Show Training, Microscope … in the order of the tabs")},
            {keyOf(u"page/network"_s, u"Ctrl+Shift+N"_s), tr("Show the page Network")},
            {tr("On Network: F8, Shift+F8, Alt+Enter"), tr("Next or previous error, replace the one at the cursor")},
            {tr("On Network: Ctrl+/, Ctrl+Shift+[ and ]"), tr("Turn lines into comments and back, fold a body and unfold it")},
            {tr("On Network: Ctrl+Space, Ctrl+F"), tr("List the words that fit at the cursor, find")},
            {tr("On Network: Alt+← →"), tr("Show another use of the block, another run of the repeat")},
            {tr("On an instrument's page: Ctrl+E"), tr("Export its figures or a picture")},
            {tr("On Microscope: P"), tr("Compute the step in FP32, as a shadow pass")},
            {tr("On X-ray: T, F, /"),
             tr("Trace a step, force the row to the other precision, go to the filter")},
            {tr("On Skips: R, K"), tr("Examine the step, save it as a capsule")},
            {tr("On Twin: Y"), tr("Resync at the end of the step")},
            {tr("On Benchmarks: B"), tr("Run or stop the measurement")},
            {tr("In the Lab, under Numbers: ← →, Space"), tr("Move among the bits, flip one")},
            {tr("In the Lab, under Numbers: Ctrl+↑, Ctrl+↓"),
             tr("Next larger or smaller value of the selected format")},
            {tr("In the Lab, under Numbers: F5"),
             tr("Present: full screen, larger; PageDown and PageUp turn the parts, Esc ends")},
            {tr("Under Runs: / or Ctrl+F"), tr("Go to the filter; ↓ moves to the table")},
            {tr("Under Runs: Enter, S, F2, Delete"), tr("Open, star, rename or delete the runs")},
            {tr("On the canvas: ← ↑ → ↓"), tr("Move the pen; with Shift it draws, Delete clears")},
            {tr("In the list of lessons: Enter"), tr("Go to the first question")},
            {tr("In a lesson: 1 to 9"), tr("Choose an answer")},
            {tr("In a lesson: ← →"),
             tr("Move the slider; ten times as far with Shift, a tenth as far with Ctrl")},
            {tr("In a lesson: Ctrl+PageDown, Ctrl+PageUp"), tr("Next or previous step")},
            {tr("In a lesson: E, Ctrl+P"), tr("Edit its file, save its worksheet")},
            {tr("In a lesson: F5"),
             tr("Present: one step at a time; PageDown also starts the run, Esc ends")},
            {u"F1"_s, tr("Help, on the focused setting if there is one")}};
}

QString shortcutsId() { return u"#shortcuts"_s; }

}  // namespace

QString shortcutsTopic() { return shortcutsId(); }

std::vector<HelpTopic> helpTopics(const SettingsModel& settings, const QString& language) {
    std::vector<HelpTopic> topics;
    int number = 0;
    for (const auto& [title, text] : HelpTopics::ideas()) {
        topics.push_back({u"#idea%1"_s.arg(number++), HelpTopics::tr("Ideas"), title,
                          page(title, paragraph(text))});
    }
    for (auto& topic : handbookTopics(language)) topics.push_back(std::move(topic));
    const QString basics = HelpTopics::tr("Reference");
    const QString keys = HelpTopics::tr("Keyboard shortcuts");
    const QString words = HelpTopics::tr("Words");
    topics.push_back({shortcutsId(), basics, keys, page(keys, table(HelpTopics::keys()))});
    topics.push_back({u"#words"_s, basics, words, page(words, table(HelpTopics::words()))});
    for (const auto& field : engine::fields()) {
        const QString path = QString::fromStdString(field.path);
        topics.push_back(
            {path, HelpTopics::tr("Settings"), settings.label(path), helpPage(settings, path)});
    }
    return topics;
}

namespace {

struct Handbook {
    Q_DECLARE_TR_FUNCTIONS(Handbook)
};

/// Paths below resources/, where the pages refer to each other by them.
const QStringList& pages() {
    static const QStringList all{u"handbook/mixed-precision.md"_s,
                                 u"handbook/window-pages.md"_s,
                                 u"handbook/command-line.md"_s,
                                 u"handbook/data-and-models.md"_s,
                                 u"handbook/write-a-network.md"_s,
                                 u"handbook/train-on-your-own-boxes.md"_s,
                                 u"handbook/layers.md"_s,
                                 u"handbook/write-a-lesson.md"_s,
                                 u"lessons/README.md"_s,
                                 u"handbook/hazards.md"_s,
                                 u"handbook/comparisons.md"_s,
                                 u"handbook/train-there-watch-here.md"_s,
                                 u"handbook/queue-to-a-cluster.md"_s,
                                 u"handbook/other-programs.md"_s,
                                 u"handbook/verdicts.md"_s,
                                 u"handbook/glossary.md"_s,
                                 u"handbook/autocast.md"_s,
                                 u"handbook/loss-scaler.md"_s,
                                 u"handbook/training-loops.md"_s,
                                 u"handbook/optimizers.md"_s,
                                 u"handbook/data-parallel.md"_s,
                                 u"handbook/exchange-on-paper.md"_s,
                                 u"handbook/detection.md"_s,
                                 u"handbook/low-bits.md"_s,
                                 u"handbook/catalogue.md"_s,
                                 u"handbook/engine.md"_s,
                                 u"handbook/decisions.md"_s,
                                 u"handbook/interfaces.md"_s,
                                 u"handbook/settings.md"_s,
                                 u"handbook/commands.md"_s,
                                 u"handbook/command-results.md"_s,
                                 u"handbook/events.md"_s,
                                 u"handbook/figures.md"_s,
                                 u"handbook/window-keys.md"_s,
                                 u"handbook/file-formats.md"_s,
                                 u"handbook/install.md"_s,
                                 u"handbook/where-data-lie.md"_s,
                                 u"handbook/changes.md"_s,
                                 u"handbook/first-hour.md"_s,
                                 u"handbook/building.md"_s,
                                 u"handbook/port-to-windows.md"_s,
                                 u"handbook/add-an-op.md"_s,
                                 u"handbook/add-a-kernel.md"_s,
                                 u"handbook/add-a-model.md"_s,
                                 u"handbook/add-a-data-set.md"_s,
                                 u"handbook/add-a-task.md"_s,
                                 u"handbook/add-an-optimizer.md"_s,
                                 u"handbook/add-a-layer.md"_s,
                                 u"handbook/add-a-plot.md"_s,
                                 u"handbook/add-a-panel.md"_s,
                                 u"handbook/add-a-page.md"_s,
                                 u"handbook/add-a-command.md"_s,
                                 u"handbook/add-an-export-format.md"_s,
                                 u"handbook/add-a-language.md"_s,
                                 u"handbook/README.md"_s};
    return all;
}

QString inLanguage(const QString& page, const QString& language) {
    QString translated = page;
    translated.insert(page.size() - 2, language + u'.');  // NAME.zh.md
    return QFile::exists(u":/"_s + translated) ? translated : page;
}

QString textOf(const QString& page) {
    QFile file(u":/"_s + page);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString titleOf(const QString& markdown) {
    const QString first = markdown.left(markdown.indexOf(u'\n'));
    return first.startsWith(u"# "_s) ? first.mid(2).trimmed() : first.trimmed();
}

}  // namespace

std::vector<HelpTopic> handbookTopics(const QString& language) {
    std::vector<HelpTopic> topics;
    for (const QString& page : pages()) {
        const QString text = textOf(inLanguage(page, language));
        topics.push_back({page, Handbook::tr("Handbook"), titleOf(text), {}, text});
    }
    return topics;
}

QString changesTopic() { return u"handbook/changes.md"_s; }

QString lessonWritingTopic() { return u"handbook/write-a-lesson.md"_s; }

QString handbookTarget(const QString& from, const QUrl& link) {
    if (!link.isRelative()) return {};
    if (link.path().isEmpty()) return from;
    const QString folder = from.left(from.lastIndexOf(u'/') + 1);
    QString page = QDir::cleanPath(folder + link.path());
    page.replace(u".zh.md"_s, u".md"_s);
    return pages().contains(page) ? page : QString();
}

}  // namespace ui
