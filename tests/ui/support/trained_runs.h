#pragma once

#include <QFile>
#include <QRegularExpression>

#include "engine/session/session.h"
#include "engine/train/resume.h"
#include "window_fixture.h"

namespace ui {

using namespace Qt::StringLiterals;

/// A run of a second at most, changed by "path=value".
inline engine::RunConfig settingsOf(std::vector<std::string> overrides) {
    const std::vector<std::string> common = {
        "dataset.kind=spirals",  "model.kind=mlp", "batch_size=32", "dataset.train_limit=640",
        "dataset.test_limit=64", "max_steps=24",   "device=cpu",    "threads=1"};
    overrides.insert(overrides.begin(), common.begin(), common.end());
    auto parsed = engine::parse_run_config("{}", overrides);
    EXPECT_TRUE(parsed.errors.empty()) << parsed.errors.front().str();
    return parsed.config;
}

/// Rows of an HTML table as cells without markup.
inline std::vector<QStringList> rowsOf(const QString& html) {
    static const QRegularExpression row(u"<tr>(.*?)</tr>"_s,
                                        QRegularExpression::DotMatchesEverythingOption);
    static const QRegularExpression cell(u"<t[hd][^>]*>(.*?)</t[hd]>"_s);
    std::vector<QStringList> rows;
    for (auto at = row.globalMatch(html); at.hasNext();) {
        QStringList cells;
        const QString inside = at.next().captured(1);
        for (auto each = cell.globalMatch(inside); each.hasNext();)
            cells << each.next().captured(1).replace(u"&amp;"_s, u"&"_s);
        rows.push_back(cells);
    }
    return rows;
}

/// A window, and runs to show in it.
struct TrainedRuns : WindowFixture {
    /// A run of these settings that has ended. Stopped after `steps` if that is not 0.
    engine::RunSummary train(const engine::RunConfig& config, engine::SessionOptions options = {},
                             std::int64_t steps = 0) {
        auto thread = std::make_shared<engine::ComputeThread>();
        engine::Session session(config, thread, feed.store(), options);
        const std::int64_t before = session.record().size();
        session.post(engine::Command::start);
        if (steps > 0) {
            EXPECT_TRUE(QTest::qWaitFor(
                [&] { return session.record().size() >= before + steps || session.wait(0); },
                300'000));
            session.post(engine::Command::stop);
        }
        EXPECT_TRUE(session.wait(300));
        const auto run = feed.store()->find(session.run());
        EXPECT_TRUE(run);
        return run.value_or(engine::RunSummary{});
    }

    engine::RunSummary resumed(const engine::RunSummary& run, std::int64_t steps) {
        const auto plan = engine::plan_resume(run);
        engine::SessionOptions options;
        options.continuation = plan.continuation;
        return train(plan.config, options, steps);
    }

    QString written(const QString& name, const QByteArray& line, int times) const {
        QFile file(folder.filePath(name));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(name.endsWith(u".csv"_s) ? "x,y,price\n" : "");
        for (int i = 0; i < times; ++i)
            file.write(name.endsWith(u".csv"_s)
                           ? QByteArray::number(i % 17) + ',' + QByteArray::number(i % 5) + ',' +
                                 QByteArray::number(3.5 * (i % 17)) + '\n'
                           : line);
        return file.fileName();
    }

    std::shared_ptr<RunTrack> open(const engine::RunSummary& run) {
        feed.showStored({run});
        EXPECT_TRUE(QTest::qWaitFor(
            [&] {
                return feed.tracks().size() == 1 && feed.tracks().front()->run() == run.run &&
                       feed.tracks().front()->rows() == feed.tracks().front()->published() &&
                       feed.tracks().front()->rows() > 0;
            },
            300'000))
            << feed.tracks().size() << " tracks, the first of " << feed.tracks().front()->run()
            << " with " << feed.tracks().front()->rows() << " rows of "
            << feed.tracks().front()->published();
        standsStill();
        return feed.tracks().front();
    }
};

}  // namespace ui
