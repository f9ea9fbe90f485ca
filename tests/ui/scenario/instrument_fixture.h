#pragma once

#include <QSettings>

#include "pages/page_stack.h"
#include "window_fixture.h"

namespace ui {

/// Short runs for the pages of the instruments.
struct InstrumentFixture : WindowFixture {
    InstrumentFixture() { QSettings().clear(); }
    ~InstrumentFixture() override { QSettings().clear(); }

    engine::RunConfig config(std::int64_t every) {
        engine::RunConfig config = engine::default_comparison();
        config.dataset.train_limit = 640;
        config.dataset.test_limit = 64;
        config.batch_size = 32;
        config.epochs = 1;  // 20 steps
        config.instruments.histograms_every = every;
        return config;
    }
    void load(std::int64_t every) {
        settings.load(config(every), {QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    }
    void show(const QString& page) {
        part<PageStack>()->showPage(page);
        standsStill(10, 100);  // a page that computes goes on
    }
    template <typename T>
    T* part() const {
        return window->findChild<T*>();
    }
};

}  // namespace ui
