// Draws every page of the window in every state, theme and language at one size of screen and one
// size of text, and checks the layout of each (screen_check.h). draw.sh runs it for all sizes.
//   screens OUT WIDTH HEIGHT [--font FACTOR] [--only PART]...
// writes OUT/STATE_PAGE_LANGUAGE_THEME.png and prints a line for each with its faults. PART: a part
// of the names of the pictures that are wanted.
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QSettings>
#include <QStyleFactory>
#include <QTemporaryDir>
#include <QTextStream>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "engine/runs/export.h"
#include "engine/settings/catalog.h"
#include "microscope/microscope_model.h"
#include "network/network_editor.h"
#include "network/network_files.h"
#include "network/network_import.h"
#include "network/network_model.h"
#include "network/network_sheet.h"
#include "pages/page_stack.h"
#include "plots/plot_options.h"
#include "screens/controls.h"
#include "screens/screen_check.h"
#include "skips/skips_model.h"
#include "support/window_stage.h"
#include "text/named_output.h"
#include "xray/xray_model.h"

static void initScreenResources() {
    Q_INIT_RESOURCE(ui);
    Q_INIT_RESOURCE(translations);
}

namespace ui {
namespace {

struct State {
    std::string name;
    std::size_t runs;  ///< 2: a comparison
    bool ends;
    std::vector<std::string> changes;  ///< of the settings, as "path=value"
    QStringList pages = {};            ///< empty: all
    /// Brings the shown page into the state, in each new window.
    void (*prepare)(WindowStage& stage) = nullptr;
    bool trainsText = false;  ///< the runs train a text, that of the template mlp
};

NetworkModel* networkOf(const WindowStage& stage) { return stage.window->findChild<NetworkModel*>(); }

bool checks(WindowStage& stage) {
    auto* model = networkOf(stage);
    return waitFor([model] { return !model->isChecking() && model->now().text == model->text(); });
}

/// A copy of ResNet-18 for pictures of 3 x 32 x 32, with its third block on show.
void editResidual(WindowStage& stage) {
    auto* files = stage.window->findChild<NetworkFiles*>();
    files->showTemplate(u"resnet18"_s);
    files->edit();
    networkOf(stage)->setImage({3, 32, 32});
    checks(stage);
    const auto& lines = networkOf(stage)->now().lines;
    const auto block = std::ranges::find(lines, NetworkLine::Kind::block, &NetworkLine::kind);
    networkOf(stage)->choose(static_cast<int>(block - lines.begin()) + 1, 2);
    stage.window->findChild<NetworkEditor*>()->goTo(static_cast<int>(block - lines.begin()) + 2);
}

/// Two errors: shapes that do not fit, and an unknown layer.
void makeErrors(WindowStage& stage) {
    editResidual(stage);
    QString text = networkOf(stage)->text();
    text.replace(u"    Conv2d(out, 1, stride=stride, bias=false)"_s, u"    Conv2d(out, 1, bias=false)"_s).replace(u"fc: Linear"_s, u"fc: Dense"_s);
    networkOf(stage)->replaceText(text);
    checks(stage);
    stage.window->findChild<NetworkEditor*>()->goToFault(true);
}

/// A model of another program: the report of its import.
void importModel(WindowStage& stage) {
    engine::NetworkData data;
    data.inputs = {{.field = "image", .sizes = {3, 32, 32}}};
    data.outputs = 10;
    const QString file = QDir::temp().filePath(u"halftone-screens-model.onnx"_s);
    writerOf(file, QByteArray::fromStdString(engine::network_to_onnx(engine::network_template("resnet18"), data, 1)))();
    auto* import = stage.window->findChild<NetworkImport*>();
    import->open(file);
    waitFor([import] { return !import->isReading(); });
    QFile::remove(file);
    checks(stage);
}

/// The trained text, with the types of a traced step.
void traceText(WindowStage& stage) {
    auto* pages = stage.window->findChild<PageStack*>();
    pages->showPage(u"xray"_s);
    auto* xray = stage.window->findChild<XrayModel*>();
    if (!xray->ownTrace()) xray->traceStep();
    waitFor([xray] { return !xray->busy(); });
    pages->showPage(u"network"_s);
    checks(stage);
    stage.window->findChild<NetworkEditor*>()->goTo(6);
}

/// The text of the run, to read, before one that has a line more.
void showRunText(WindowStage& stage) {
    checks(stage);
    auto* model = networkOf(stage);
    model->replaceText(model->text().replace(u"    ReLU\n"_s, u"    ReLU\n    Dropout(0.1)\n"_s));
    checks(stage);
    for (auto* button : stage.window->findChildren<QToolButton*>())
        if (button->isVisible() && button->text() == NetworkSheet::runTextTitle(model->comparedRun())) button->click();
    checks(stage);
}

const std::vector<State>& states() {
    static const std::vector<State> all = {
        {"empty", 0, true, {}},
        {"live", 2, false,
         {"epochs=20", "scaler.preset=classroom", "scaler.growth_interval=10"}},
        {"ended", 2, true,
         {"epochs=6", "scaler.preset=classroom", "scaler.growth_interval=10"}},
        {"diverged", 2, true, {"optimizer.kind=sgd", "optimizer.lr=3000"}},
        {"static", 2, true, {"precision.scaler=static", "scaler.init_scale=1099511627776"}},
        {"forced", 1, true, {R"(precision.force={"fc1": "fp32"})"}, {u"xray"_s}},
        {"clock", 2, true, {"epochs=6"}, {u"training"_s}},
        {"cards", 0, true, {"dataset.kind=glyphs", "model.kind=dcgan"}, {u"network"_s}},
        {"checked", 0, true, {"dataset.kind=glyphs", "model.kind=lenet"}, {u"network"_s}, editResidual},
        {"errors", 0, true, {"dataset.kind=glyphs", "model.kind=lenet"}, {u"network"_s}, makeErrors},
        {"imported", 0, true, {"dataset.kind=glyphs", "model.kind=lenet"}, {u"network"_s}, importModel},
        {"traced", 2, true, {}, {u"network"_s}, traceText, true},
        {"runtext", 2, true, {}, {u"network"_s}, showRunText, true},
    };
    return all;
}

/// A comparison of a second or two, which samples histograms.
std::vector<std::string> settingsOf(const State& state) {
    std::vector<std::string> out = {
        "dataset.kind=spirals", "dataset.train_limit=2048",
        "model.kind=mlp",       "batch_size=32",
        "device=cpu",           "threads=1",
        "epochs=2",             "instruments.histograms_every=20"};
    out.insert(out.end(), state.changes.begin(), state.changes.end());
    return out;
}

constexpr const char* languages[] = {"en", "zh_CN"};
constexpr Theme::Choice themes[] = {Theme::Choice::light, Theme::Choice::dark};

struct Wanted {
    QString out;
    QSize size;
    QStringList only;
    bool asked(const QString& name) const {
        return only.isEmpty() || std::ranges::any_of(only, [&name](const QString& part) {
                   return name.contains(part);
               });
    }
};

struct Picture {
    const State& state;
    const char* language;
    Theme::Choice theme;
    PageEntry page;
    QString name() const {
        return u"%1_%2_%3_%4"_s.arg(QString::fromStdString(state.name), page.name,
                                    QString::fromLatin1(language),
                                    theme == Theme::Choice::dark ? u"dark"_s : u"light"_s);
    }
};

/// The pictures of a state that are wanted, in an order that changes as little as possible from
/// one to the next.
std::vector<Picture> picturesOf(const State& state, const Wanted& wanted) {
    std::vector<Picture> out;
    for (const char* language : languages) {
        for (const auto theme : themes) {
            for (const PageEntry& page : pageEntries()) {
                if (!state.pages.isEmpty() && !state.pages.contains(page.name)) continue;
                Picture picture{state, language, theme, page};
                if (wanted.asked(picture.name())) out.push_back(std::move(picture));
            }
        }
    }
    return out;
}

/// A window that shows one state after another page, language and theme.
class Screens {
public:
    Screens(const State& state, const Wanted& wanted) : wanted_(wanted) {
        QSettings().clear();
        stage_.commands.setTrialLimit(std::chrono::milliseconds(0));
        if (state.runs > 0) train(state);
        if (state.runs == 0 && !state.changes.empty()) stage_.settings.load(engine::parse_run_config("{}", state.changes).config);
    }
    ~Screens() {
        stage_.commands.stop();
        waitFor([this] { return !stage_.feed.live() || stage_.ended(); });
    }

    /// The number of faults.
    int draw(const Picture& picture) {
        // The program opens its window anew for another language, and keeps it for another theme.
        if (stage_.window == nullptr || language_ != picture.language) {
            language_ = picture.language;
            stage_.language.setChoice(QString::fromLatin1(language_));
            stage_.theme.setChoice(picture.theme);
            stage_.openWindow(wanted_.size);
            prepared_ = false;
        }
        stage_.theme.setChoice(picture.theme);
        if (picture.state.name == "clock") stage_.link.options()->setX(XKind::clock);
        QTextStream out(stdout);
        auto* pages = stage_.window->findChild<PageStack*>();
        pages->showPage(picture.page.name);
        if (pages->shown().name != picture.page.name) {
            out << picture.name() << ": needs a run\n";
            return 0;
        }
        stage_.settle();
        if (picture.state.prepare != nullptr && !std::exchange(prepared_, true)) picture.state.prepare(stage_);
        waitFor([this] { return !isComputing(); });  // what the page computes when it is opened
        stage_.settle();
        const QStringList faults = ScreenCheck(*stage_.window).faults(wanted_.size);
        constexpr int fast = 89;  // the least compression, which takes a tenth of the time
        stage_.window->grab().save(wanted_.out + u'/' + picture.name() + u".png"_s, "PNG", fast);
        out << picture.name() << ": "
            << (faults.isEmpty() ? u"well"_s : u"%1 faults"_s.arg(faults.size())) << "\n";
        for (const QString& fault : faults) out << "    " << fault.simplified().left(300) << "\n";
        return static_cast<int>(faults.size());
    }

    /// In each language and theme; their names begin with "controls".
    static void drawControls(const Wanted& wanted) {
        const State none{"controls", 0, true, {}};
        Screens screens(none, wanted);
        for (const char* language : languages) {
            for (const auto theme : themes) {
                const Picture shown{none, language, theme, pageEntries().front()};
                if (!wanted.asked(u"controls"_s) && !wanted.asked(shown.name())) continue;
                screens.draw(shown);
                for (const auto& [name, picture] : Controls(screens.stage_).all())
                    picture.save(wanted.out + u'/' + shown.name() + u'_' + name + u".png"_s);
            }
        }
    }

private:
    bool isComputing() const {
        const auto busy = [](const auto& models) {
            return std::ranges::any_of(models, [](const auto* each) { return each->busy(); });
        };
        return busy(stage_.window->findChildren<XrayModel*>()) ||
               busy(stage_.window->findChildren<SkipsModel*>()) ||
               busy(stage_.window->findChildren<MicroscopeModel*>()) ||
               std::ranges::any_of(stage_.window->findChildren<NetworkModel*>(),
                                   [](const auto* each) { return each->isChecking(); });
    }
    void train(const State& state) {
        const auto parsed = engine::parse_run_config("{}", settingsOf(state));
        for (const auto& error : parsed.errors)
            QTextStream(stderr) << QString::fromStdString(error.str()) << "\n";
        engine::RunConfig config = parsed.config;
        if (state.trainsText) {
            config.model = {};
            config.model.kind = "file";
            for (const QString& line : textLines(QString::fromStdString(engine::network_template("mlp")))) config.model.network.all.push_back(line.toStdString());
            config = engine::completed(config);
        }
        stage_.settings.load(config, {u"fp32"_s, u"amp-fp16"_s});
        if (state.runs == 1)
            stage_.commands.start();
        else
            stage_.commands.compare();
        const bool reached = waitFor([&] {
            const auto tracks = stage_.feed.tracks();
            if (tracks.size() != state.runs) return false;
            constexpr int enough = 400;
            return state.ends ? stage_.ended() : std::ranges::all_of(tracks, [](const auto& each) {
                return each->rows() > enough;
            });
        });
        if (!reached) QTextStream(stderr) << picturesOf(state, wanted_)[0].name() << ": no run\n";
        if (state.ends) return;
        stage_.commands.togglePause();  // so that pictures of one page are alike
        waitFor([this] {
            return stage_.feed.state() == engine::RunState::paused || stage_.ended();
        });
    }

    const Wanted& wanted_;
    WindowStage stage_;
    const char* language_ = "";
    bool prepared_ = false;
};

QByteArray makeLargeScreen(const QTemporaryDir& folder) {
    QFile file(folder.filePath(u"screen.json"_s));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(R"({"synchronousWindowSystemEvents": false, "windowFrameMargins": false,
                   "screens": [{"name": "large", "x": 0, "y": 0, "width": 3840, "height": 2160,
                                "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}]})");
    return file.fileName().toUtf8();
}

}  // namespace
}  // namespace ui

int main(int argc, char** argv) {
    using namespace ui;
    QTemporaryDir home;
    qputenv("QT_QPA_PLATFORM", "offscreen:configfile=" + makeLargeScreen(home));
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    initScreenResources();
    QCoreApplication::setOrganizationName(u"halftone-test"_s);
    QApplication application(argc, argv);
    QApplication::setStyle(QStyleFactory::create(u"Fusion"_s));
    const QStringList words = QCoreApplication::arguments();
    Wanted wanted{words.value(1), {words.value(2).toInt(), words.value(3).toInt()}, {}};
    if (wanted.out.isEmpty() || wanted.size.isEmpty()) {
        QTextStream(stderr) << "screens OUT WIDTH HEIGHT [--font FACTOR] [--only PART]...\n";
        return 2;
    }
    for (qsizetype i = 4; i + 1 < words.size(); i += 2) {
        if (words[i] == u"--only"_s) wanted.only << words[i + 1];
        if (words[i] == u"--font"_s) {
            QFont font = QApplication::font();
            font.setPointSizeF(font.pointSizeF() * words[i + 1].toDouble());
            QApplication::setFont(font);
        }
    }
    QDir().mkpath(wanted.out);
    int faults = 0;
    for (const State& state : states()) {
        const std::vector<Picture> pictures = picturesOf(state, wanted);
        if (pictures.empty()) continue;
        Screens screens(state, wanted);
        for (const Picture& picture : pictures) faults += screens.draw(picture);
    }
    Screens::drawControls(wanted);
    QTextStream(stdout) << faults << " faults\n";
    return faults == 0 ? 0 : 1;
}
