#pragma once

#include "examples/translate/corpus.h"
#include "tensor/random.h"

namespace program {

/// Chinese sentences of 3 to 16 characters with their English translation, `count` distinct ones of a small
/// grammar. The languages order their words differently:
///
///   who  when  with whom  where  does  what        我 昨天 和他 在北京 吃了 苹果
///   who  did   what  with whom   where  when       I ate an apple with him in Beijing yesterday
///
/// They also differ in numbers (三本书, three books; 两杯茶, two cups of tea), questions (你喜欢茶吗, Do you
/// like tea? 他去哪里, Where does he go?), negation (我没去, I did not go), past (了) and future (明天).
/// Where Chinese is ambiguous the grammar decides, so that each sentence has one translation: a thing without
/// a number is one thing (苹果: an apple), unless it is loved or liked (apples); 一 is "one"; 什么时候 asks
/// about the future.
std::vector<Pair> generate_corpus(heed::Generator& generator, int64_t count = 6000);

}  // namespace program
