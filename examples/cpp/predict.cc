// The best labels of texts, from C++.
//
//   cmake -B build && cmake --build build
//   build/predict MODEL 'a text' 'another'
#include <elias/elias.hpp>
#include <exception>
#include <iostream>
#include <string_view>
#include <vector>

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "predict: give a model and texts\n";
    return 2;
  }
  const elias::Model model(argv[1]);
  const std::vector<std::string_view> texts(argv + 2, argv + argc);
  const elias::Predictions found = model.predict(texts, {.k = 3});

  std::cout.precision(9);  // as many digits as tell a float from all others
  for (size_t text = 0; text < found.rows(); ++text) {
    for (size_t i = 0; i < found.labels(text).size(); ++i) {
      std::cout << model.label_name(found.labels(text)[i]) << '\t' << found.scores(text)[i] << '\n';
    }
    std::cout << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << "predict: " << error.what() << '\n';
  return 2;
}
