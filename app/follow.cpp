#include "follow.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/base/remaining_time.h"
#include "engine/number/figure_text.h"
#include "engine/parallel/launch.h"
#include "event_words.h"
#include "interruption.h"
#include "terminal.h"

namespace app {
namespace {

using Clock = std::chrono::steady_clock;

class SessionSource final : public RunSource {
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

/// One run's side of the stream.
class Follower {
public:
    Follower(std::string label, RunSource& source, bool json,
             std::function<void(const std::string& run)> started = {})
        : label_(std::move(label)), source_(source), started_(std::move(started)), json_(json) {}

    void look() {
        const auto state = source_.state();
        const std::int64_t count =
            source_.record().size();  // the start event comes before its rows
        take_events();
        write_steps_up_to(count);
        over_ = state == engine::RunState::done || state == engine::RunState::failed;
        if (!over_) return;
        take_events();
        outcome_.id = source_.run();
        const bool silent = !outcome_.ended && outcome_.exit_code == 0;
        if (silent && !source_.unfinished().empty()) say(source_.unfinished());
        take_record();
    }

    bool over() const { return over_; }
    const Outcome& outcome() const { return outcome_; }

    std::string progress() {
        const auto record = source_.record();
        const std::int64_t rows = record.size();
        if (rows == 0) return label_ + ": " + source_.waiting();
        std::array<engine::StepRecord, 1> last;
        if (!read(record, rows - 1, last)) return label_ + ": the step record cannot be read";
        const engine::StepRecord& row = last[0];
        std::ostringstream out;
        out.precision(3);
        out << label_ << ": step " << row.step;
        if (planned_ > 0) out << '/' << planned_;
        out << "  loss " << row.loss;
        if (!metrics_.empty()) show_metric(out, row.*engine::metric_column(metrics_, 0));
        out << "  scale " << scale_text(row.loss_scale) << "  skipped " << row.step - row.updates
            << "  " << row.step_ms << " ms";
        if (planned_ > 0) {
            const double share = static_cast<double>(row.step) / static_cast<double>(planned_);
            if (const auto left = time_.after(share)) out << "  " << engine::time_left_text(*left);
        }
        return out.str();
    }

private:
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

    std::int64_t published() const { return source_.record().size(); }

    void take_events() {
        for (const auto& event : source_.drain())
            std::visit([this](const auto& e) { see(e); }, event);
    }

    void write_steps_up_to(std::int64_t count) {
        if (!json_) {
            written_ = count;
            return;
        }
        const auto record = source_.record();
        std::vector<engine::StepRecord> rows;
        while (written_ < count) {
            rows.resize(static_cast<std::size_t>(std::min<std::int64_t>(count - written_, 256)));
            if (!read(record, written_, rows)) return;
            for (const auto& row : rows)
                std::cout << engine::to_json_line(source_.run(), row, step_metrics_) << '\n';
            written_ += std::ssize(rows);
        }
    }

    /// False if another program cut the record short; the other runs go on.
    bool read(const engine::StepRecordReader& record, std::int64_t first,
              std::span<engine::StepRecord> rows) {
        try {
            record.rows(first, rows);
            return true;
        } catch (const engine::Error& error) {
            unreadable_ = error;
            return false;
        }
    }

    /// At the end. A run whose record cannot be read has an empty one in the comparison.
    void take_record() {
        const auto record = source_.record();
        std::array<engine::StepRecord, 1> last;
        if (record.size() > 0 && !read(record, record.size() - 1, last) &&
            outcome_.exit_code == 0) {
            std::cerr << "halftone: " << unreadable_->what() << '\n';
            outcome_.exit_code = engine::exit_code_of_run(unreadable_->code());
        }
        if (!unreadable_) outcome_.run.record = record;
    }

    void line(const engine::Event& event) const {
        if (json_) std::cout << engine::to_json_line(event) << '\n';
    }

    /// A line for people, on a row of its own.
    void say(const std::string& text) const {
        if (!json_) std::cout << begin_line << engine::one_line(label_ + ": " + text) << std::endl;
    }

    void see(const engine::StateChanged&) {}

    void see(const engine::RunStarted& event) {
        if (started_) started_(event.run);
        planned_ = event.steps_planned;
        outcome_.run.device = event.device;
        metrics_ = event.metrics;
        step_metrics_ = event.step_metrics;
        if (!metrics_.empty()) outcome_.metric = metrics_.front();
        line(event);
        say(event.origin ? foreign_start(event) : own_start(event));
    }

    void see(const engine::RunResumed& event) {
        if (event.parent.empty() && source_.shown_before())
            written_ = event.step;  // the rows before were written once
        line(event);
        say("goes on after step " + std::to_string(event.step) +
            (event.parent.empty() ? "" : " of run " + event.parent) + ", as run " + event.run);
        for (const auto& part : event.restored) say("  " + part.str());
    }

    void see(const engine::CheckpointSaved& event) {
        write_steps_up_to(event.step);
        line(event);
        say("checkpoint at step " + std::to_string(event.step) + ", " +
            engine::bytes_text(event.bytes) + (event.best ? ", the best" : ""));
    }

    void see(const engine::StepExamined& event) {
        write_steps_up_to(event.step);
        line(event);
        say("step " + std::to_string(event.step) + " examined: " + event.verdict.str());
    }

    void see(const engine::EpochDone& event) {
        write_steps_up_to(event.step);
        outcome_.run.tests.push_back(event.test);
        line(event);
        std::ostringstream out;
        out.precision(4);
        out << (event.epoch_ended ? "epoch " + std::to_string(event.epoch)
                                  : "step " + std::to_string(event.step))
            << ": training loss " << loss_text(event.train.loss);
        if (!std::isnan(event.validation.loss))
            out << ", validation loss " << event.validation.loss;
        out << test_metrics(event.validation, "validation") << ", test loss "
            << loss_text(event.test.loss)
            << test_metrics(event.test, "test") << ", " << event.seconds << " s";
        say(out.str());
    }

    void see(const engine::ScaleChanged& event) {
        write_steps_up_to(event.step);
        line(event);
        if (event.kind == engine::ScaleChanged::Kind::grown) ++outcome_.run.growths;
        say(scale_change_text(event));
    }

    void see(const engine::RunWarning& event) {
        line(event);
        if (!json_) std::cerr << '\n' << label_ << ": " << event.message.str() << '\n';
    }

    void see(const engine::RunFailed& event) {
        write_steps_up_to(published());
        line(event);
        outcome_.exit_code = engine::exit_code_of_run(event.code);
        outcome_.failure = event.message.str();
        if (!engine::speaks_for_ranks()) return;  // the others gave this rank up, and said so
        std::cerr << (json_ ? "" : "\n") << "halftone: " << event.message.str() << '\n';
        if (!event.hint.empty()) std::cerr << event.hint.str() << '\n';
    }

    void see(const engine::RunDone& event) {
        write_steps_up_to(published());
        outcome_.run.done = event;
        outcome_.ended = true;
        line(event);
        std::ostringstream out;
        out << end_text(event) << ": " << event.updates << " updates, " << event.skipped
            << " skipped";
        if (event.replaced_samples > 0)
            out << ", " << event.replaced_samples << " damaged samples replaced";
        out << test_metrics(event.test, "test");
        say(out.str());
        if (event.unsaved == 0) return;
        outcome_.exit_code = engine::exit_code(engine::ErrorCode::training);
        std::cerr << "halftone: The checkpoint of step " << event.unsaved
                  << " is not on the disk: the run cannot go on from there.\n";
    }

    std::string label_;
    RunSource& source_;
    std::function<void(const std::string& run)> started_;
    bool json_;
    bool over_ = false;
    std::int64_t written_ = 0;
    std::int64_t planned_ = 0;
    engine::RemainingTime time_;
    std::vector<engine::Metric> metrics_, step_metrics_;
    std::optional<engine::Error> unreadable_;
    Outcome outcome_;
};

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
    void show(std::vector<Follower>& followers) {
        const auto interval = isatty(STDOUT_FILENO) != 0 ? std::chrono::milliseconds(200)
                                                         : std::chrono::milliseconds(5000);
        if (Clock::now() - last_ < interval) return;
        last_ = Clock::now();
        std::string text;
        for (auto& follower : followers) {
            if (!follower.over()) text += (text.empty() ? "" : "  |  ") + follower.progress();
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

void follow(std::vector<Follower>& followers, const std::vector<RunSource*>& sources, bool json) {
    const InterruptScope obeyed;
    ProgressLine progress;
    bool stopped = false, all_over = false;
    while (!all_over) {
        if (was_interrupted() && !std::exchange(stopped, true)) {
            for (auto* source : sources) source->stop();
        }
        all_over = true;
        for (auto& follower : followers) {
            if (!follower.over()) follower.look();
            all_over = all_over && follower.over();
        }
        if (json)
            std::cout << std::flush;
        else
            progress.show(followers);
        if (!std::cout) note_interruption();  // nobody reads on: save and end
        if (!all_over) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace

std::vector<Outcome> follow(const std::vector<Followed>& sessions, bool json) {
    std::vector<SessionSource> sources;
    for (const auto& session : sessions) sources.emplace_back(*session.session);
    std::vector<RunSource*> pointers;
    std::vector<Follower> followers;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        pointers.push_back(&sources[i]);
        followers.emplace_back(sessions[i].label, sources[i], json, sessions[i].started);
    }
    follow(followers, pointers, json);
    std::vector<Outcome> outcomes;
    for (const auto& follower : followers) outcomes.push_back(follower.outcome());
    return outcomes;
}

Outcome follow(const std::string& label, RunSource& source, bool json) {
    std::vector<Follower> followers;
    followers.emplace_back(label, source, json);
    follow(followers, {&source}, json);
    return followers.front().outcome();
}

}  // namespace app
