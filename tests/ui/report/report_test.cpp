#include "ui/report.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QTemporaryDir>
#include <fstream>
#include <set>

#include "engine/base/error.h"
#include "engine/session/compute_thread.h"
#include "engine/session/session.h"
#include "theme/tokens.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// Trains a small net for a few steps with a scale that grows often.
std::string train(const std::shared_ptr<engine::RunStore>& store, const std::string& precision) {
    engine::RunConfig config;
    config.dataset.kind = "spirals";
    config.model.kind = "mlp";
    config.precision.preset = precision;
    config.scaler.preset = "classroom";
    config.scaler.growth_interval = 5;
    config.max_steps = 30;
    engine::Session session(config, std::make_shared<engine::ComputeThread>(), store, {});
    session.post(engine::Command::start);
    EXPECT_TRUE(session.wait(300));
    return session.run();
}

QString readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

bool holds(const QImage& image, const QColor& color) {
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            if (image.pixelColor(x, y) == color) return true;
        }
    }
    return false;
}

class Report : public testing::Test {
protected:
    QTemporaryDir dir_;
    std::shared_ptr<engine::RunStore> store_ =
        std::make_shared<engine::RunStore>(dir_.path().toStdString() + "/runs");
    QString folder_ = dir_.path() + u"/report"_s;

    void write(const ReportContent& content) {
        write_report(store_, content, folder_.toStdString());
    }
};

TEST_F(Report, DrawsBothRunsAndWritesWhatThePageShows) {
    engine::Verdict verdict;
    verdict.headline = engine::msg("Same result so far.");
    write({{train(store_, "fp32"), train(store_, "amp-fp16")}, {verdict}});
    const QString page = readAll(folder_ + u"/report.html"_s);
    for (const QString& text : {u"Same result so far."_s, u"FP32"_s, u"AMP FP16"_s, u"30"_s,
                                u"growth_interval"_s, u"loss-scale.png"_s}) {
        EXPECT_TRUE(page.contains(text)) << text.toStdString();
    }
    const Tokens t = lightTokens();
    for (const QString& name : {u"loss.png"_s, u"accuracy.png"_s, u"gradient-norm.png"_s}) {
        const QImage plot(folder_ + u'/' + name);
        ASSERT_FALSE(plot.isNull()) << name.toStdString();
        EXPECT_TRUE(holds(plot, t.fp32)) << name.toStdString();
        EXPECT_TRUE(holds(plot, t.fp16)) << name.toStdString();
    }
    const QImage scale(folder_ + u"/loss-scale.png"_s);
    EXPECT_TRUE(holds(scale, t.fp16));
    EXPECT_FALSE(holds(scale, t.fp32)) << "a run without a scaler has no scale";
}

/// The name that another program gives itself must not become a part of the page, nor reach a
/// terminal that shows it.
TEST_F(Report, CleansWhatOtherProgramsHaveWritten) {
    const auto run = train(store_, "amp-fp16");
    const engine::RunSummary summary = *store_->find(run);
    engine::RunStarted started{};
    started.run = run;
    started.config = summary.config;
    started.origin = engine::RunOrigin{.program = "<img&\"'\x1b[31m\u202e src=x onerror=go()>"};
    std::ofstream(summary.folder / "events.jsonl", std::ios::app)
        << engine::to_json_line(started) << '\n';
    store_->rebuild();
    engine::Verdict verdict;
    verdict.headline = engine::msg("<script>{}</script>", "\x07");
    write({{run}, {verdict}});
    const QString page = readAll(folder_ + u"/report.html"_s);
    EXPECT_TRUE(page.contains(u"<td>&lt;img&amp;&quot;'"_s))
        << "a program's name is its first word";
    EXPECT_TRUE(page.contains(u"&lt;script&gt;"_s));
    EXPECT_FALSE(page.contains(u"<script"_s) || page.contains(u"<img src=x"_s));
    for (const QChar c : page)
        EXPECT_TRUE(c == u'\n' ||
                    (c.unicode() >= 0x20 && c.unicode() != 0x7f && c.unicode() != 0x202e))
            << static_cast<unsigned>(c.unicode());
}

TEST_F(Report, NamesARunThatIsNotThere) {
    EXPECT_THROW(write({{"no-such-run"}, {}}), engine::Error);
}

TEST_F(Report, SaysWhichFileCannotBeWritten) {
    const auto run = train(store_, "fp32");
    QFile file(folder_);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));  // a file in the place of the folder
    try {
        write({{run}, {}});
        FAIL() << "nothing can be written there";
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.code(), engine::ErrorCode::io);
        EXPECT_NE(std::string(error.what()).find(folder_.toStdString()), std::string::npos);
    }
}

TEST_F(Report, AsOneFileIsAPageOrAPdfByItsName) {
    const auto run = train(store_, "amp-fp16");
    const engine::Report report = engine::make_report({*store_->find(run)});
    const QString html = dir_.filePath(u"r.html"_s), pdf = dir_.filePath(u"r.pdf"_s);
    write_report_file(report, html.toStdString());
    EXPECT_TRUE(readAll(html).contains(u"<svg "_s));
    write_report_file(report, pdf.toStdString());
    QFile file(pdf);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    EXPECT_TRUE(bytes.startsWith("%PDF-"));
    EXPECT_GE(bytes.count("/Subtype /Image"), 5) << "its plots";
    EXPECT_THROW(write_report_file(report, dir_.filePath(u"r.txt"_s).toStdString()), engine::Error);
    EXPECT_THROW(write_report_file(report, "/nonexistent/r.pdf"), engine::Error);
}

}  // namespace
}  // namespace ui
