// People and places of the samples; none of them exists.
#pragma once

#include "samples/chance.h"
#include "samples/language.h"

#include <string>

namespace millrace::samples {

struct Person {
  std::string given;
  std::string family;
  bool female = false;
  std::string full() const { return given + " " + family; }
};

struct Place {
  std::string street;
  std::string town;  // With the postal code.
};

struct Institution {
  std::string name;
  std::string department;
  Place place;
  std::string phone;
};

Person make_person(Chance& chance, Language language);
Place make_place(Chance& chance, Language language);
Institution make_hospital(Chance& chance, Language language);
Institution make_laboratory(Chance& chance, Language language);
Institution make_company(Chance& chance, Language language);

}  // namespace millrace::samples
