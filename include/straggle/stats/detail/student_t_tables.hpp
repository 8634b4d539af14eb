// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Coefficients of the Student-t tail (private part of `student_t.hpp`).
/// Made by tests/golden/student_t_coefficients.py, which also checks it; do not edit.
#pragma once

#include <straggle/base/config.hpp>

// clang-format off
namespace straggle::inline STRAGGLE_ABI::detail::student_t {

/// Density at 0 for 1..64 degrees of freedom ...
inline constexpr double density_at_zero_high[64] = {
    0x1.45f306dc9c883p-2, 0x1.6a09e667f3bcdp-2, 0x1.785fb53dcdc1ap-2, 0x1.8000000000000p-2,
    0x1.84b79db8858f6p-2, 0x1.87eb1990b697ap-2, 0x1.8a3b32ea41b87p-2, 0x1.8bfad401b2968p-2,
    0x1.8d5905ed3d99dp-2, 0x1.8e726d9eef1e5p-2, 0x1.8f59799155781p-2, 0x1.901a8e7a7ad2ep-2,
    0x1.90be4fd395137p-2, 0x1.914af1f95d907p-2, 0x1.91c5070b856cfp-2, 0x1.9230000000000p-2,
    0x1.928e80b6e9a54p-2, 0x1.92e29858ba2aap-2, 0x1.932de81720e2bp-2, 0x1.9371be6a82f72p-2,
    0x1.93af2a991d41ep-2, 0x1.93e70af657553p-2, 0x1.941a177239673p-2, 0x1.9448e98a1f729p-2,
    0x1.947402551029dp-2, 0x1.949bcf2d31800p-2, 0x1.94c0ad51bd336p-2, 0x1.94e2ecc2e8b6ep-2,
    0x1.9502d2874357ap-2, 0x1.95209a7d75f07p-2, 0x1.953c78d45a167p-2, 0x1.95569b3cea83ep-2,
    0x1.956f29e4da712p-2, 0x1.958648452a77cp-2, 0x1.959c15cd7d768p-2, 0x1.95b0ae7300000p-2,
    0x1.95c42b283cfa0p-2, 0x1.95d6a2421ad1dp-2, 0x1.95e827cd5f629p-2, 0x1.95f8cdd76cf88p-2,
    0x1.9608a4ac64b04p-2, 0x1.9617bb0c70e87p-2, 0x1.96261e59a6f3ep-2, 0x1.9633dabfacb70p-2,
    0x1.9640fb5619994p-2, 0x1.964d8a3e5f530p-2, 0x1.965990bde46d0p-2, 0x1.96651754de13ap-2,
    0x1.967025d25fcf8p-2, 0x1.967ac36604cf6p-2, 0x1.9684f6af86d78p-2, 0x1.968ec5cc8a04bp-2,
    0x1.96983664d9dd2p-2, 0x1.96a14db54b36ap-2, 0x1.96aa10996f043p-2, 0x1.96b283943bd31p-2,
    0x1.96baaad7ce75dp-2, 0x1.96c28a4c5de59p-2, 0x1.96ca25967a946p-2, 0x1.96d1801cae34dp-2,
    0x1.96d89d0c8e399p-2, 0x1.96df7f5f50f72p-2, 0x1.96e629ddf34dcp-2, 0x1.96ec9f24fb042p-2,
};

/// ... and what rounding took from it.
inline constexpr double density_at_zero_low[64] = {
    -0x1.6b01ec5417056p-56, -0x1.bdd3413b26456p-56, 0x1.c16850ccbac60p-57, 0x1.0000000000000p-170,
    -0x1.f934e042ef012p-56, 0x1.c43e9f593ea0fp-58, 0x1.4557f01e52513p-58, -0x1.079f0f58b1dbep-56,
    -0x1.666b16be64036p-57, 0x1.1ef240c64402ap-56, -0x1.c9b3e49d2dc6ap-56, -0x1.8cd09a157fc19p-57,
    -0x1.bfb260f8c025ep-56, -0x1.d343cf5569ef9p-57, -0x1.45f97c7a88d95p-57, -0x1.0000000000000p-168,
    0x1.f6ef713dff142p-57, -0x1.1437f0dd34accp-56, 0x1.3f6ab735b294dp-57, 0x1.f644a2f101aa6p-57,
    0x1.1e875042c7f4ep-56, 0x1.092d2137a68f4p-58, 0x1.e528a1296922ep-56, 0x1.a29bbcc8e1b14p-60,
    0x1.fdefa0f62f2ccp-57, -0x1.304a0eb11c88ap-56, -0x1.3d2b5b797d72dp-57, -0x1.2984e1342b165p-57,
    0x1.a0dd8e66a666ap-60, 0x1.6eafc38c62795p-56, -0x1.7739b9f679630p-56, -0x1.90cec92ec9758p-56,
    0x1.64e3c37c7fab8p-56, -0x1.862d074a7f1ecp-57, 0x1.a14cbe84d80bdp-58, 0x1.e000000000000p-167,
    0x1.d7b0078f4a2b3p-56, 0x1.17dac2a52d1d0p-56, -0x1.e779b637c5516p-59, -0x1.11238be987b19p-57,
    -0x1.19b5cd20233d5p-57, 0x1.7370daa5176ccp-59, -0x1.2107a764ea495p-67, -0x1.3ca3badf9a44dp-56,
    0x1.edab98a80dc16p-56, -0x1.72203bcbb638bp-56, 0x1.e34e44e6c9c83p-57, 0x1.dd74508da067cp-56,
    0x1.4a6c2c1b80806p-57, 0x1.5f0cebb1782e6p-56, -0x1.e7c70349af4d8p-56, 0x1.a319ed62f710bp-58,
    -0x1.3af6e931eff45p-56, -0x1.d36d97345cbc6p-56, 0x1.e19481fad2c4ep-56, -0x1.0614259f7a5b0p-58,
    -0x1.3557b5285c3d1p-56, -0x1.822e19c699dc6p-56, 0x1.04b13879be3bfp-56, 0x1.915c652ef3ccdp-56,
    -0x1.d2b6fe3e6d673p-56, 0x1.523d998486ea7p-58, 0x1.2d5e265f7ee8cp-58, 0x1.1800000000000p-56,
};

/// (1 - sqrt(2 pi) C) nu, nu >= 18, in powers of 1/nu.
inline constexpr double density_loss[10] = {
    0x1.0000000000000p-2, -0x1.00000000003aap-5, -0x1.3fffffff74dd6p-5, 0x1.4ffffdfcf3cddp-7,
    0x1.8f003ce856f96p-5, -0x1.b2c2cb531403ep-7, -0x1.328545606ea3bp-3, 0x1.f2e24c9fbb751p-6,
    0x1.0447027a624dbp+0, -0x1.d5f78f3288cfdp+0,
};

/// Gamma(a+1/2) sqrt(a+1/pi)/Gamma(a+1) - 1, 0 < a < 9, in powers of (a-1)/(a+1).
inline constexpr double gamma_ratio_small[27] = {
    0x1.1f75c1c6dfdf7p-6, -0x1.d4313797fb929p-7, -0x1.401b1f60f82a7p-7, 0x1.5da59863c5bcfp-7,
    -0x1.9334fe4f69e8ep-8, 0x1.7c09efd617dbcp-9, -0x1.57d674a98d435p-10, 0x1.3110bf13032e5p-11,
    -0x1.08a47f8e4d5f6p-12, 0x1.cdbe686cfee95p-14, -0x1.93a05e534a944p-15, 0x1.612eeaf321d67p-16,
    -0x1.39b458b9d39b8p-17, 0x1.1716fa5f0b9b3p-18, -0x1.f75dbe5d68afep-20, 0x1.d03bd827224bap-21,
    -0x1.9d348d617d506p-22, 0x1.5037e44b3e055p-23, -0x1.9f777e0b5a9bbp-24, 0x1.40ccb050969d2p-24,
    0x1.1d9dd4fa2416ap-28, -0x1.a1152d98e3051p-26, -0x1.f26c0d7484d97p-26, 0x1.508dc1317c1ddp-26,
    0x1.f038e4eeb654ep-27, -0x1.d790a4c8633c4p-29, -0x1.3311d5997d7f2p-28,
};

/// (xi + 5/4) exp(xi^2/2) P(Z > xi), 0.75 <= xi <= 40, in powers of (xi-4)/(xi+4) ...
inline constexpr double normal_tail[22] = {
    0x1.fb8d36288361ep-2, -0x1.1d4ad7c6f13b3p-3, 0x1.7169e9b960fbdp-5, 0x1.5dbfe8f511582p-7,
    -0x1.911b6cec951eep-6, 0x1.0314d67ff0e64p-6, -0x1.3f851dd544f60p-8, -0x1.081295dcfb2cfp-13,
    0x1.53caa7200253dp-11, -0x1.bbd65a803885fp-14, -0x1.5271a372f2798p-14, 0x1.77f3f0a7f2dbap-16,
    0x1.a52bf2a081048p-17, -0x1.e8d8cf0f9cbc3p-19, -0x1.48cee4103cdffp-19, 0x1.f18cfa71dad08p-22,
    0x1.1d553b85f31ccp-21, -0x1.a6f022f958013p-26, -0x1.d77074a09eacap-24, -0x1.0e911fd86d55dp-28,
    0x1.116c71cd76cd9p-26, -0x1.36ce9fb66c1fep-31,
};

/// ... and what rounding took from the first.
inline constexpr double normal_tail_low = 0x1.1d0b30aa2820cp-57;

/// Remainder of the uniform expansion for 1/nu in [0.0, 0.03333]: rows of [8, 8, 7, 6, 5, 4, 3, 2, 1] powers.
inline constexpr double remainder_far[44] = {
    0x1.0085ad6c44096p-2, 0x1.059f4473f8641p-11, -0x1.701b598a9d263p-17, -0x1.15bd21733f7e7p-25,
    0x1.04cb8e95f808fp-28, -0x1.3d49712918e70p-39, -0x1.bd6c62a288decp-39, 0x1.dfe72f7044f65p-46,
    0x1.4e318eaa1751dp-7, -0x1.ca9e4648257f3p-13, -0x1.83e9a5fa9b54cp-21, 0x1.45e9e1b0bcfd7p-24,
    0x1.4afa9846a5c91p-36, -0x1.1918ab2376540p-34, 0x1.ff759257cadcbp-42, 0x1.6c086b767d0a3p-44,
    -0x1.56b5401ba54bep-9, -0x1.41749a831b989p-17, 0x1.e855df9d5549fp-21, 0x1.11f0ac1e75ce3p-30,
    -0x1.a7e8798f3cd67p-31, 0x1.31f2f143b2c55p-38, 0x1.17af0b9433ce9p-40, -0x1.790dd39c059ffp-14,
    0x1.05196c75a8b28p-17, 0x1.04a4e4100621bp-26, -0x1.c7d72bcee59fbp-28, 0x1.de41959847b27p-36,
    0x1.34081d6259217p-37, 0x1.b1f22b3f8b3cfp-15, 0x1.3847979c35d40p-23, -0x1.7c9d1ac23b5f9p-25,
    0x1.ea9edaa3d31bcp-34, 0x1.07dc73f4b0390p-34, 0x1.15c164bf4cd83p-20, -0x1.03979659a8f46p-22,
    0x1.e237c18fc2f70p-33, 0x1.715f05eabfb8bp-32, -0x1.2b22b47b224e3p-20, -0x1.bf50d52ffb3c6p-31,
    0x1.b4b1f6439ff0fp-30, -0x1.6d90c0d36b243p-27, 0x1.be7c0018dd920p-28, 0x1.91dd2d207cdccp-26,
};

/// Remainder of the uniform expansion for 1/nu in [0.03333, 0.1]: rows of [10, 10, 9, 8, 6, 5, 4, 3, 2] powers.
inline constexpr double remainder_mid[57] = {
    0x1.01f414422be2ep-2, 0x1.c5bba7fe288b1p-11, -0x1.73231ad93f4e2p-15, 0x1.886863c24c915p-24,
    0x1.d082bf204d283p-25, -0x1.ad9170ce6b6efp-30, -0x1.f6a11f2f81105p-34, 0x1.899131bcae1a6p-37,
    0x1.28e01258096a3p-44, -0x1.5e3e811be0f23p-44, 0x1.388ca95b6f2d7p-7, -0x1.cf7605c96ff63p-12,
    -0x1.d76f11ec6b9d1p-23, 0x1.302f224fddb3dp-21, -0x1.bbae94ea4a4d6p-27, -0x1.75223e342517ep-30,
    0x1.d8934716b4623p-34, 0x1.3ac773c5dadffp-39, -0x1.e9d3d34d6a6a4p-41, 0x1.e24f7e4b7a575p-45,
    -0x1.59680fb82a12fp-9, -0x1.183a4fac5790ep-17, 0x1.d80fc8082b40ep-19, -0x1.f9243e3693467p-25,
    -0x1.40b830244bfe4p-27, 0x1.4777b5abd7867p-31, 0x1.a128507423b53p-36, -0x1.8a75f3f9082f4p-38,
    0x1.3ec76f3172d13p-42, -0x1.174d56d9347e0p-14, 0x1.025c38b89785dp-16, -0x1.5e154ebc8ac57p-23,
    -0x1.7e3ca85202850p-25, 0x1.34332caf0cf80p-29, 0x1.4d8a9258539a7p-33, -0x1.8fa657d047953p-36,
    0x1.0bdabcb1eba3ap-40, 0x1.b2533f34c2405p-15, -0x1.dce512bd036c1p-23, -0x1.5900a91ef06a6p-23,
    0x1.a636e373b0e40p-28, 0x1.72e0bc90469dep-31, -0x1.5f0d4260bf759p-34, 0x1.589cf9576e0bap-22,
    -0x1.f1143a8892c59p-22, 0x1.a7ad3233757ebp-27, 0x1.36bec0b05f0a4p-29, -0x1.e630f0317c72fp-33,
    -0x1.2861b40c6fc4bp-20, 0x1.1e046102af5fbp-26, 0x1.a1af24b47facap-28, -0x1.1108d215ad258p-31,
    0x1.7dc176e9196cfp-27, 0x1.d17791d29e77fp-27, -0x1.f8d5ff69a658ap-31, 0x1.729a0134cb2d5p-26,
    -0x1.80a0a94719b19p-30,
};

/// Remainder of the uniform expansion for 1/nu in [0.1, 0.25]: rows of [13, 12, 11, 10, 8, 7, 5, 4, 2, 1] powers.
inline constexpr double remainder_near[73] = {
    0x1.045d1f27fb1b2p-2, 0x1.5a4e6ce2da36fp-10, -0x1.aec3697a1dc49p-13, 0x1.c34071cf5f809p-18,
    0x1.31118879c1300p-21, -0x1.c60d0e4550891p-24, 0x1.a5d4f1bb03f68p-28, 0x1.4668f20585ac2p-31,
    -0x1.adb224d050c7cp-33, 0x1.9f1cac10385a4p-36, -0x1.76716957342a9p-42, -0x1.3152b4141d443p-41,
    0x1.eddd1a6c57b59p-44, 0x1.09fb3a47f9d65p-7, -0x1.f89c2199a8cd3p-11, 0x1.6459ff695af53p-16,
    0x1.f1470934edb0cp-19, -0x1.0f648b7cda8b9p-21, 0x1.0685df34815adp-26, 0x1.616ccffcb7c6ep-28,
    -0x1.27121f1433447p-30, 0x1.83fb032e28b5ap-34, 0x1.01a0ea1c73647p-37, -0x1.185e78ca163dep-38,
    0x1.64342ceca4286p-41, -0x1.5877571828c9cp-9, 0x1.ba20267a16c0cp-16, 0x1.b38d94a185e8dp-17,
    -0x1.64b0d96a9ace9p-20, -0x1.1b7733a390bfcp-27, 0x1.68c5e1bd6513fp-26, -0x1.acc0c765019b0p-29,
    0x1.ea9e7eba776b6p-34, 0x1.c86ce3bcafaacp-35, -0x1.04fe8514ffac0p-36, 0x1.0ed762d5e62a0p-39,
    -0x1.47598bcae4d55p-16, 0x1.f536286fc5cffp-16, -0x1.2839a26a0a252p-19, -0x1.2a1ff245159d3p-23,
    0x1.c54bf036ac758p-25, -0x1.7892b902f17c3p-28, -0x1.cc1f2f9763495p-33, 0x1.8765555eff054p-33,
    -0x1.10846732a7a24p-35, 0x1.d45cf2a43e1afp-39, 0x1.a034e37beccadp-15, -0x1.34263e6a97c0ep-19,
    -0x1.c028f9c67806dp-22, 0x1.857235ce800ebp-24, -0x1.7163d4afb8de5p-28, -0x1.3b5e6e33f7214p-30,
    0x1.a7be55cf28ff7p-32, -0x1.c75a758d43c1bp-35, -0x1.0c7a8d63d302ap-20, -0x1.9a34dac0d51f0p-21,
    0x1.dbd26d5978a9ap-24, -0x1.cacdc1577f2cap-33, -0x1.717c3cf494170p-29, 0x1.17c768aef1721p-31,
    -0x1.e6782d3a7dcddp-35, -0x1.0c6f384bc60c4p-20, 0x1.8e4e9523504b3p-24, 0x1.281000ad78b0cp-27,
    -0x1.183aea4233ea1p-28, 0x1.4168bda9c2610p-31, 0x1.61dcaec138527p-25, 0x1.312830def134ep-26,
    -0x1.0f8cdae084343p-28, 0x1.f12282c285421p-32, 0x1.736144be3ed18p-26, -0x1.e003f9b1f2003p-29,
    -0x1.283a389031017p-29,
};

} // namespace straggle::detail::student_t
// clang-format on
