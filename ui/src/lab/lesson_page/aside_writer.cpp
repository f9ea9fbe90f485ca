#include "lab/lesson_page/aside_writer.h"

#include <utility>

#include "engine/io/work_scope.h"
#include "feed/background_task.h"

namespace ui {

namespace {

struct GivenUp {};

struct Written {
    QString file;
    Failure failure = {};
    bool isGivenUp = false;
};

Written writtenBy(const std::function<QString()>& write, const std::atomic<bool>& stop) {
    const engine::WorkScope scope([&stop](double) {
        if (stop) throw GivenUp{};
    });
    try {
        return {write()};
    } catch (const GivenUp&) {
        return {{}, {}, true};
    } catch (const std::exception& error) {
        return {{}, Failure(error)};
    }
}

}  // namespace

void AsideWriter::start(std::function<QString()> write) {
    if (running()) return;
    stop_ = std::make_shared<std::atomic<bool>>(false);
    inBackground(
        this, [write = std::move(write), stop = stop_] { return writtenBy(write, *stop); },
        [this](const Written& written) {
            stop_.reset();
            if (written.isGivenUp)
                emit cancelled();
            else
                emit ended(written.file, written.failure);
        });
}

void AsideWriter::cancel() {
    if (stop_) *stop_ = true;
}

}  // namespace ui
