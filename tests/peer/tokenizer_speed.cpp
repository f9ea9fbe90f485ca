#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "data/text/tokenizer_pipeline.h"
#include "engine/base/error.h"

// tokenizer_speed TOKENIZER.json TEXT: encodes the text once and prints tokens and seconds, for tokenizer_golden.py --time.
int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: tokenizer_speed TOKENIZER.json TEXT\n";
        return 2;
    }
    try {
        const auto tokenizer = engine::read_tokenizer(arguments[1]);
        std::ifstream file(arguments[2], std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        const auto start = std::chrono::steady_clock::now();
        const auto tokens =
            tokenizer->encode(text, engine::TokenizerPipeline::Frames::none).ids.size();
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        std::cout << tokens << ' ' << spent.count() << '\n';
    } catch (const engine::Error& error) {
        std::cerr << error.what() << '\n';
        return engine::exit_code(error.code());
    }
    return 0;
}
