#include "follow.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <span>
#include <sstream>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/base/remaining_time.h"
#include "engine/number/figure_text.h"
#include "engine/parallel/launch.h"
#include "engine/report/report.h"
#include "engine/runs/run_listing.h"
#include "event_words.h"
#include "interruption.h"
#include "terminal.h"

namespace app {
namespace {

using Clock = std::chrono::steady_clock;

class SessionSource final : public engine::RunSource {
public:
    explicit SessionSource(engine::Session& session) : session_(session) {}
    engine::RunState state() const override { return session_.state(); }
    engine::StepRecordReader record() const override { return session_.record(); }
    std::string run() const override { return session_.run(); }
    std::vector<engine::Event> drain() override { return session_.drain(); }
    void stop() override { session_.post(engine::Command::stop); }
    std::string waiting() const override {
        const engine::ReadingShare read = session_.reading();
        if (read.total == 0 || read.done == read.total) return RunSource::waiting();
        const auto share = static_cast<double>(read.done) / static_cast<double>(read.total);
        const auto left = reading_.after(share);
        const auto amount = [&read](std::int64_t part) {
            return read.in_bytes ? engine::bytes_text(part) : std::to_string(part);
        };
        return "reading the data, " + amount(read.done) + " of " + amount(read.total) +
               (read.in_bytes ? "" : " files") +
               (left ? ", " + engine::time_left_text(*left) : "");
    }

private:
    engine::Session& session_;
    mutable engine::RemainingTime reading_;
};

/// One run's side of the stream: lines for people, or JSON.
class RunTeller final : public engine::RunListener {
public:
    RunTeller(std::string label, engine::RunSource& source, bool json,
              std::function<void(const std::string& run)> started = {})
        : label_(std::move(label)),
          source_(source),
          follower_(source, *this),
          started_(std::move(started)),
          json_(json) {}
    RunTeller(const RunTeller&) = delete;  // the follower knows its place
    RunTeller& operator=(const RunTeller&) = delete;

    void look() {
        follower_.look();
        if (!over()) return;
        const bool silent = !outcome().ended && outcome().failure.empty();
        if (silent && !source_.unfinished().empty()) say(source_.unfinished());
        const bool cut_short = outcome().failure.empty() && outcome().exit_code != 0;
        if (follower_.unreadable() && cut_short)
            std::cerr << "halftone: " << follower_.unreadable()->what() << '\n';
    }

    bool over() const { return follower_.over(); }
    const engine::RunOutcome& outcome() const { return follower_.outcome(); }

    std::string progress() {
        const auto record = source_.record();
        const std::int64_t rows = record.size();
        if (rows == 0) return label_ + ": " + source_.waiting();
        const bool paused = source_.state() == engine::RunState::paused;
        std::array<engine::StepRecord, 1> last;
        try {
            record.rows(rows - 1, last);
        } catch (const engine::Error&) {
            return label_ + ": the step record cannot be read";
        }
        const engine::StepRecord& row = last[0];
        std::ostringstream out;
        out.precision(3);
        out << label_ << ": step " << row.step;
        if (planned_ > 0) out << '/' << planned_;
        out << "  loss " << row.loss;
        if (!metrics_.empty()) show_metric(out, row.*engine::metric_column(metrics_, 0));
        out << "  scale " << engine::scale_text(row.loss_scale) << "  skipped " << row.step - row.updates
            << "  " << row.step_ms << " ms";
        if (paused) out << "  paused";
        if (planned_ > 0 && !paused) {
            const double share = static_cast<double>(row.step) / static_cast<double>(planned_);
            if (const auto left = time_.after(share)) out << "  " << engine::time_left_text(*left);
        }
        return out.str();
    }

    bool wants_rows() const override { return json_; }
    void rows(std::span<const engine::StepRecord> next) override {
        for (const auto& row : next)
            std::cout << engine::to_json_line(source_.run(), row, step_metrics_) << '\n';
    }
    void event(const engine::Event& event) override {
        if (const auto* start = std::get_if<engine::RunStarted>(&event)) begin(*start);
        const bool is_state = std::holds_alternative<engine::StateChanged>(event);
        if (json_ && !is_state) std::cout << engine::to_json_line(event) << '\n';
        std::visit([this](const auto& each) { tell(each); }, event);
    }

private:
    void begin(const engine::RunStarted& event) {
        if (started_) started_(event.run);
        planned_ = event.steps_planned;
        metrics_ = event.metrics;
        step_metrics_ = event.step_metrics;
    }

    /// The primary metric of a step.
    void show_metric(std::ostream& out, float value) const {
        if (std::isnan(value)) return;
        const engine::Metric& metric = metrics_.front();
        out << "  " << metric.key << ' ';
        if (metric.is_share)
            out << std::lround(value * 100) << " %";
        else
            out << value;
    }

    /// A line for people, on a row of its own.
    void say(const std::string& text) const {
        if (!json_) std::cout << begin_line << engine::one_line(label_ + ": " + text) << std::endl;
    }

    void tell(const engine::StateChanged&) {}

    void tell(const engine::RunStarted& event) {
        say(event.origin ? foreign_start(event) : own_start(event));
    }

    void tell(const engine::RunResumed& event) {
        say("goes on after step " + std::to_string(event.step) +
            (event.parent.empty() ? "" : " of run " + event.parent) + ", as run " + event.run);
        for (const auto& part : event.restored) say("  " + part.str());
    }

    void tell(const engine::CheckpointSaved& event) {
        say("checkpoint at step " + std::to_string(event.step) + ", " +
            engine::bytes_text(event.bytes) + (event.best ? ", the best" : ""));
    }

    void tell(const engine::StepExamined& event) {
        say("step " + std::to_string(event.step) + " examined: " + event.verdict.str());
    }

    void tell(const engine::RecipeStarted& event) {
        say(std::to_string(event.quantised) + " of " +
            std::to_string(event.quantised + event.kept) +
            " layers in " + event.recipe + "; emulated: the same numbers, slower; says nothing about a "
            "card's speed");
    }

    void tell(const engine::ScaleAlarm& event) { say(event.hint.str()); }

    void tell(const engine::EpochDone& event) {
        std::ostringstream out;
        out.precision(4);
        out << (event.epoch_ended ? "epoch " + std::to_string(event.epoch)
                                  : "step " + std::to_string(event.step))
            << ": training loss " << loss_text(event.train.loss);
        if (!std::isnan(event.validation.loss))
            out << ", validation loss " << event.validation.loss;
        out << test_metrics(event.validation, "validation");
        if (event.evaluated)
            out << ", test loss " << loss_text(event.test.loss) << test_metrics(event.test, "test");
        out << ", " << event.seconds << " s";
        say(out.str());
    }

    void tell(const engine::ScaleChanged& event) { say(scale_change_text(event)); }

    void tell(const engine::RunWarning& event) {
        if (!json_) std::cerr << '\n' << label_ << ": " << event.message.str() << '\n';
    }

    void tell(const engine::RunFailed& event) {
        if (!engine::speaks_for_ranks()) return;  // the others gave this rank up, and said so
        std::cerr << (json_ ? "" : "\n") << "halftone: " << event.message.str() << '\n';
        if (!event.hint.empty()) std::cerr << event.hint.str() << '\n';
    }

    void tell(const engine::RunDone& event) {
        std::ostringstream out;
        out << end_text(event) << ": " << event.updates << " updates, " << event.skipped
            << " skipped";
        if (event.replaced_samples > 0)
            out << ", " << event.replaced_samples << " damaged samples replaced";
        out << test_metrics(event.test, "test");
        say(out.str());
        if (event.unsaved == 0) return;
        std::cerr << "halftone: The checkpoint of step " << event.unsaved
                  << " is not on the disk: the run cannot go on from there.\n";
    }

    std::string label_;
    engine::RunSource& source_;
    engine::RunFollower follower_;
    std::function<void(const std::string& run)> started_;
    bool json_;
    std::int64_t planned_ = 0;
    engine::RemainingTime time_;
    std::vector<engine::Metric> metrics_, step_metrics_;
};

using Tellers = std::vector<std::unique_ptr<RunTeller>>;

/// Letters that fit a line: one more and the carriage return would come back to the second line.
std::size_t terminal_width() {
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1U : 79U;
}

/// The line with the progress of all runs: rewritten in place on a terminal, otherwise a new one
/// every five seconds.
class ProgressLine {
public:
    void show(const Tellers& tellers) {
        const auto interval = isatty(STDOUT_FILENO) != 0 ? std::chrono::milliseconds(200)
                                                         : std::chrono::milliseconds(5000);
        if (Clock::now() - last_ < interval) return;
        last_ = Clock::now();
        std::string text;
        for (const auto& teller : tellers) {
            if (!teller->over()) text += (text.empty() ? "" : "  |  ") + teller->progress();
        }
        if (text.empty()) return;
        text = engine::one_line(text);
        if (isatty(STDOUT_FILENO) != 0)
            std::cout << begin_line << text.substr(0, terminal_width()) << std::flush;
        else
            std::cout << text << std::endl;
    }

private:
    Clock::time_point last_ = Clock::now();
};

std::vector<engine::RunOutcome> follow(const Tellers& tellers,
                                       const std::vector<engine::RunSource*>& sources, bool json) {
    const InterruptScope obeyed;
    ProgressLine progress;
    bool stopped = false, all_over = false;
    while (!all_over) {
        if (was_interrupted() && !std::exchange(stopped, true)) {
            for (auto* source : sources) source->stop();
        }
        all_over = true;
        for (const auto& teller : tellers) {
            if (!teller->over()) teller->look();
            all_over = all_over && teller->over();
        }
        if (json)
            std::cout << std::flush;
        else
            progress.show(tellers);
        if (!std::cout) note_interruption();  // nobody reads on: save and end
        if (!all_over) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::vector<engine::RunOutcome> outcomes;
    for (const auto& teller : tellers) outcomes.push_back(teller->outcome());
    return outcomes;
}

}  // namespace

std::vector<engine::RunOutcome> follow(const std::vector<Followed>& sessions, bool json) {
    std::vector<SessionSource> sources;
    for (const auto& session : sessions) sources.emplace_back(*session.session);
    std::vector<engine::RunSource*> pointers;
    Tellers tellers;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        pointers.push_back(&sources[i]);
        tellers.push_back(std::make_unique<RunTeller>(sessions[i].label, sources[i], json,
                                                      sessions[i].started));
    }
    return follow(tellers, pointers, json);
}

engine::RunOutcome follow(const std::string& label, engine::RunSource& source, bool json) {
    Tellers tellers;
    tellers.push_back(std::make_unique<RunTeller>(label, source, json));
    return follow(tellers, {&source}, json).front();
}

void print_verdicts(const engine::GroupRuns& runs) {
    if (runs.empty() || engine::is_sweep_group(runs.front().group)) return;
    std::vector<engine::RunSummary> compared;
    for (const engine::RunSummary& run : runs) {
        if (run.config.seed != runs.front().config.seed || run.steps == 0) continue;
        if (auto listed = engine::read_run_folder(run.folder, engine::keep_no_event))
            compared.push_back(std::move(listed->summary));
    }
    if (compared.size() < 2) return;
    const auto verdicts = engine::make_report(compared).verdicts;
    for (std::size_t i = 0; i < verdicts.size() && i + 1 < compared.size(); ++i) {
        std::cout << '\n'
                  << compared[i + 1].config.precision.preset << " against "
                  << compared.front().config.precision.preset << ": "
                  << verdicts[i].headline.str() << ' ' << verdicts[i].details() << '\n';
    }
}

}  // namespace app
