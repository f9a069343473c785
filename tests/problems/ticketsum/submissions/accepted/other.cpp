#include <iostream>
int main() { std::cout << 6; }
