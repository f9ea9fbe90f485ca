// Draws every page of the window in every state, theme and language at one size of screen and one
// size of text, and checks the layout of each (screen_check.h). draw.sh runs it for all sizes.
//   screens OUT WIDTH HEIGHT [--font FACTOR] [--only PART]...
// writes OUT/STATE_PAGE_LANGUAGE_THEME.png and prints a line for each with its faults. PART: a part
// of the names of the pictures that are wanted.
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QSettings>
#include <QStyleFactory>
#include <QTemporaryDir>
#include <QTextStream>
#include <QThreadPool>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "commands/run_history.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/benchmarks.h"
#include "models/settings_model.h"
#include "pages/page_stack.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "screens/screen_check.h"
#include "text/language.h"
#include "theme/theme.h"
#include "view/view.h"

static void initScreenResources() {
    Q_INIT_RESOURCE(ui);
    Q_INIT_RESOURCE(translations);
}

namespace ui {
namespace {

struct State {
    const char* name;
    const char* config;  ///< null: nothing has run
    bool ends;
};

constexpr State states[] = {
    {"empty", nullptr, true},
    {"live",
     R"({"dataset": {"kind": "spirals", "train_limit": 2048}, "model": {"kind": "mlp"},
         "batch_size": 32, "epochs": 40, "device": "cpu", "threads": 1,
         "instruments": {"histograms_every": 20},
         "scaler": {"preset": "classroom", "growth_interval": 10}})",
     false},
    {"ended",
     R"({"dataset": {"kind": "spirals", "train_limit": 2048}, "model": {"kind": "mlp"},
         "batch_size": 32, "epochs": 6, "device": "cpu", "threads": 1,
         "instruments": {"histograms_every": 20},
         "scaler": {"preset": "classroom", "growth_interval": 10}})",
     true},
    {"diverged",
     R"({"dataset": {"kind": "spirals", "train_limit": 2048}, "model": {"kind": "mlp"},
         "batch_size": 32, "epochs": 2, "device": "cpu", "threads": 1,
         "instruments": {"histograms_every": 20},
         "optimizer": {"kind": "sgd", "lr": 3000}})",
     true},
    {"static",
     R"({"dataset": {"kind": "spirals", "train_limit": 2048}, "model": {"kind": "mlp"},
         "batch_size": 32, "epochs": 2, "device": "cpu", "threads": 1,
         "instruments": {"histograms_every": 20},
         "precision": {"preset": "amp-fp16", "scaler": "static"},
         "scaler": {"init_scale": 16777216}})",
     true},
};

/// Lets the window work, for at most `ms`, until `done`.
template <typename Done>
bool wait(int ms, Done done) {
    QElapsedTimer clock;
    clock.start();
    while (!done() && clock.elapsed() < ms) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QThread::msleep(2);
    }
    return done();
}

void settle(int ms) {
    wait(ms, [] { return false; });
}

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

/// The objects of the program, with one state.
class Program {
public:
    Program(const State& state, const Wanted& wanted) : state_(state), wanted_(wanted) {
        QSettings().clear();
        feed_.setStore(std::make_shared<engine::RunStore>(folder_.path().toStdString()));
        reach();
    }
    ~Program() {
        window_.reset();
        commands_.stop();
        wait(20'000, [this] { return !feed_.live() || ended(); });
        benchmarks_.stop();
        QThreadPool::globalInstance()->waitForDone();
    }

    /// Whether a picture of this state is wanted.
    static bool isAsked(const State& state, const Wanted& wanted) {
        for (const PageEntry& page : pageEntries()) {
            for (const char* language : languages) {
                for (const bool dark : {false, true}) {
                    if (wanted.asked(nameOf(state, page, language, dark))) return true;
                }
            }
        }
        return false;
    }

    /// The number of faults.
    int draw() {
        int faults = 0;
        for (const char* language : languages) {
            language_.setChoice(QString::fromLatin1(language));
            for (const auto theme : {Theme::Choice::light, Theme::Choice::dark}) {
                const auto asked = [&](const PageEntry& page) {
                    return wanted_.asked(
                        nameOf(state_, page, language, theme == Theme::Choice::dark));
                };
                if (std::ranges::none_of(pageEntries(), asked)) continue;
                theme_.setChoice(theme);
                open();
                for (const PageEntry& page : pageEntries())
                    faults +=
                        draw(page, nameOf(state_, page, language, theme == Theme::Choice::dark));
            }
        }
        return faults;
    }

private:
    static constexpr const char* languages[] = {"en", "zh_CN"};
    static QString nameOf(const State& state, const PageEntry& page, const char* language,
                          bool dark) {
        return u"%1_%2_%3_%4"_s.arg(QString::fromLatin1(state.name), page.name,
                                    QString::fromLatin1(language), dark ? u"dark"_s : u"light"_s);
    }
    bool ended() const {
        const auto tracks = feed_.tracks();
        return std::ranges::all_of(
            tracks, [](const auto& track) { return track->done() || track->failed(); });
    }
    void reach() {
        if (state_.config == nullptr) return;
        const auto parsed = engine::parse_run_config(state_.config);
        for (const auto& error : parsed.errors)
            QTextStream(stderr) << QString::fromStdString(error.str()) << "\n";
        settings_.load(parsed.config, {u"fp32"_s, u"amp-fp16"_s});
        commands_.compare();
        if (state_.ends) {
            wait(60'000, [this] { return feed_.tracks().size() == 2 && ended(); });
        } else {
            wait(60'000, [this] {
                const auto tracks = feed_.tracks();
                return tracks.size() == 2 && tracks[0]->rows() > 400 && tracks[1]->rows() > 400;
            });
            commands_.togglePause();  // so that pictures of one page are alike
        }
        settle(400);
    }
    void open() {
        window_.reset();
        window_ = std::make_unique<MainWindow>(context_);
        window_->resize(wanted_.size);
        window_->QWidget::show();
        settle(200);
    }
    int draw(const PageEntry& page, const QString& name) {
        if (!wanted_.asked(name)) return 0;
        QTextStream out(stdout);
        auto* pages = window_->findChild<PageStack*>();
        pages->showPage(page.name);
        if (pages->shown().name != page.name) {
            out << name << ": needs a run\n";
            return 0;
        }
        settle(400);
        wait(4000, [this] {
            scheduler_.charge(0);  // as the application does after each event
            return !scheduler_.isPainting();
        });
        settle(50);
        const QStringList faults = ScreenCheck(*window_).faults(wanted_.size);
        window_->grab().save(wanted_.out + u'/' + name + u".png"_s);
        out << name << ": " << (faults.isEmpty() ? u"well"_s : u"%1 faults"_s.arg(faults.size()))
            << "\n";
        for (const QString& fault : faults) out << "    " << fault.simplified().left(300) << "\n";
        return static_cast<int>(faults.size());
    }

    const State& state_;
    const Wanted& wanted_;
    QTemporaryDir folder_;
    Theme theme_;
    Language language_;
    EventFeed feed_;
    SettingsModel settings_;
    Commands commands_{&feed_, &settings_};
    PlotLink link_;
    PaintScheduler scheduler_;
    View view_{&feed_, &link_, &scheduler_};
    QueueRunner queue_{&feed_, &commands_};
    RunHistory history_{&feed_, &commands_};
    Benchmarks benchmarks_{&feed_, folder_.filePath(u"benchmarks.json"_s)};
    Context context_{&theme_, &language_,  &feed_,  &settings_, &commands_,
                     &link_,  &scheduler_, &queue_, &history_,  &benchmarks_};
    std::unique_ptr<MainWindow> window_;
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
    for (const State& state : states) {
        if (Program::isAsked(state, wanted)) faults += Program(state, wanted).draw();
    }
    QTextStream(stdout) << faults << " faults\n";
    return faults == 0 ? 0 : 1;
}
