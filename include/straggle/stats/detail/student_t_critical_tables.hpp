// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Critical values of the common confidence levels (private part of `student_t.hpp`).
/// Made by tests/golden/student_t_coefficients.py, which also checks it; do not edit.
#pragma once

#include <straggle/base/config.hpp>

// clang-format off
namespace straggle::inline STRAGGLE_ABI::detail::student_t {

/// Table size; terms of the polynomial in 1/dof; and of the expansion it comes from.
inline constexpr int critical_small = 64, critical_terms = 7, cornish_fisher_order = 10;

/// Critical values of one level: the first ones, and t = z + sum over k of correction[k] / dof^(k+1).
struct critical_table {
    double level;
    double small_dof[critical_small];
    double normal_high, normal_low; ///< z as a sum
    double correction[critical_terms];
};

/// Coefficient of 1/dof^k as k + 1 coefficients of z, z^3, ...; row after row.
inline constexpr double cornish_fisher[65] = {
    0x1.0000000000000p-2, 0x1.0000000000000p-2, 0x1.0000000000000p-5, 0x1.5555555555555p-3,
    0x1.aaaaaaaaaaaabp-5, -0x1.4000000000000p-5, 0x1.6aaaaaaaaaaabp-5, 0x1.9555555555555p-5,
    0x1.0000000000000p-7, -0x1.5000000000000p-7, -0x1.5555555555555p-6, 0x1.0777777777777p-6,
    0x1.13e93e93e93e9p-7, 0x1.c16c16c16c16cp-11, 0x1.8f00000000000p-5, -0x1.1000000000000p-9,
    -0x1.3cccccccccccdp-8, 0x1.4aaaaaaaaaaabp-9, 0x1.e222222222222p-11, 0x1.3333333333333p-14,
    0x1.b280000000000p-7, 0x1.2600000000000p-5, 0x1.b311111111111p-9, -0x1.d145145145145p-12,
    0x1.1388716aa4e33p-12, 0x1.5cbce8404b212p-14, 0x1.80ad602b580adp-18, -0x1.333a000000000p-3,
    -0x1.91d0000000000p-6, 0x1.f148888888889p-8, 0x1.7f5e45e45e45ep-10, 0x1.4162b29cf0eb8p-13,
    0x1.cffe8e21c5aa9p-15, 0x1.3720c761cb721p-17, 0x1.e9c9473f1e9c9p-22, -0x1.46a3400000000p-5,
    -0x1.e95aaaaaaaaabp-4, -0x1.a594666666666p-6, -0x1.b2dca5ca5ca5dp-10, 0x1.4711e11e11e12p-14,
    0x1.87b7e7953abfcp-15, 0x1.3f300ba79a3cfp-17, 0x1.be6b124e89699p-21, 0x1.b918b95e13090p-26,
    0x1.b6315b0000000p-1, 0x1.a72bc15555555p-3, -0x1.fa63777777777p-9, -0x1.727960b60b60bp-8,
    -0x1.e1e4fdec508c2p-11, -0x1.54dd623128c2ep-14, -0x1.e0276511d02a5p-19, -0x1.8bb7c8c2b5e35p-24,
    -0x1.7a647313fe0cbp-28, 0x1.845c8a0ce5129p-35, 0x1.c7740f8000000p-3, 0x1.658154aaaaaabp-1,
    0x1.7902e3d555555p-3, 0x1.8365e69a69a6ap-6, 0x1.b246a4eec0b32p-10, 0x1.b4526b4ae8662p-18,
    -0x1.e73eba795c13fp-17, -0x1.2602ac299c633p-19, -0x1.682be9002f968p-23, -0x1.497bdacd048f7p-28,
    0x1.4188759e9fbb7p-36,
};

/// T_7(2u - 1) in powers of u.
inline constexpr double shifted_chebyshev_7[8] = {
    -0x1.0000000000000p+0, 0x1.8800000000000p+6, -0x1.8800000000000p+10, 0x1.2600000000000p+13,
    -0x1.a400000000000p+14, 0x1.3400000000000p+15, -0x1.c000000000000p+14, 0x1.0000000000000p+13,
};

/// T_8(2u - 1) in powers of u.
inline constexpr double shifted_chebyshev_8[9] = {
    0x1.0000000000000p+0, -0x1.0000000000000p+7, 0x1.5000000000000p+11, -0x1.5000000000000p+14,
    0x1.4a00000000000p+16, -0x1.6000000000000p+17, 0x1.a000000000000p+17, -0x1.0000000000000p+17,
    0x1.0000000000000p+15,
};

/// T_9(2u - 1) in powers of u.
inline constexpr double shifted_chebyshev_9[10] = {
    -0x1.0000000000000p+0, 0x1.4400000000000p+7, -0x1.0e00000000000p+12, 0x1.5a80000000000p+15,
    -0x1.bd80000000000p+17, 0x1.41c0000000000p+19, -0x1.1100000000000p+20, 0x1.0e00000000000p+20,
    -0x1.2000000000000p+19, 0x1.0000000000000p+17,
};

inline constexpr critical_table common_levels[4] = {
    {0x1.ccccccccccccdp-1, // 0.90
     {
      0x1.9414813ba662dp+2, 0x1.75c2166634963p+1, 0x1.2d3b035609bc7p+1, 0x1.10e05b01ad866p+1,
      0x1.01ed1ae7a9632p+1, 0x1.f174434b0b9b0p+0, 0x1.e5031a7c90190p+0, 0x1.dc0b57168943cp+0,
      0x1.d546e39fa218bp+0, 0x1.cffd73bfbf621p+0, 0x1.cbbf1b83b77d8p+0, 0x1.c843ff4b94e47p+0,
      0x1.c55be41b28681p+0, 0x1.c2e5389744382p+0, 0x1.c0c7e879f0d66p+0, 0x1.bef23b8c3a0bfp+0,
      0x1.bd56ddcc64e1cp+0, 0x1.bbeb97af9b2bep+0, 0x1.baa872abecc0ap+0, 0x1.b987228028cc3p+0,
      0x1.b8829b5c66b02p+0, 0x1.b796c6127938ep+0, 0x1.b6c048d13818dp+0, 0x1.b5fc5e3486012p+0,
      0x1.b548b6828a9c9p+0, 0x1.b4a36040d66f0p+0, 0x1.b40ab62a07fd3p+0, 0x1.b37d5120e2d7ap+0,
      0x1.b2f9fd22b60a8p+0, 0x1.b27fb080b375bp+0, 0x1.b20d84d8c9c96p+0, 0x1.b1a2b1695ed34p+0,
      0x1.b13e86745572ep+0, 0x1.b0e069780a6b6p+0, 0x1.b087d212637a3p+0, 0x1.b034476c0b14bp+0,
      0x1.afe55e1174caap+0, 0x1.af9ab624f6231p+0, 0x1.af53f9d997feep+0, 0x1.af10dc299cf36p+0,
      0x1.aed117be515b6p+0, 0x1.ae946e00c0cf2p+0, 0x1.ae5aa64c84bf5p+0, 0x1.ae238d3f22d6cp+0,
      0x1.adeef41f72cb5p+0, 0x1.adbcb059510aep+0, 0x1.ad8c9b0a894a4p+0, 0x1.ad5e909e69f72p+0,
      0x1.ad327075de768p+0, 0x1.ad081c9a470e4p+0, 0x1.acdf79798e542p+0, 0x1.acb86daa381d5p+0,
      0x1.ac92e1b657a86p+0, 0x1.ac6ebfec840dep+0, 0x1.ac4bf43604726p+0, 0x1.ac2a6bf18a4b0p+0,
      0x1.ac0a15d1e832dp+0, 0x1.abeae1c048364p+0, 0x1.abccc0c175af6p+0, 0x1.abafa4dddd6c8p+0,
      0x1.ab93810bf340ap+0, 0x1.ab78491cb6b8fp+0, 0x1.ab5df1aa19babp+0, 0x1.ab44700713955p+0},
     0x1.a515209676abep+0, -0x1.47d243ae8f38dp-55,
     {
      0x1.8615bc1f7bb2bp+0, 0x1.6b926c341a84dp+0, 0x1.f74bf9630e9cep-1, 0x1.bc4a1f84b38d3p-2,
      0x1.8c00a429b7bafp-3, 0x1.04c9498a96123p-2, -0x1.d6f6f2d3d77ddp-3}},
    {0x1.e666666666666p-1, // 0.95
     {
      0x1.96993aacc4d1ep+3, 0x1.135ea98e146b9p+2, 0x1.975a66893c1a9p+1, 0x1.63628d9efb5dep+1,
      0x1.4908d359dff38p+1, 0x1.393468546e653p+1, 0x1.2eac01e9f5b1cp+1, 0x1.272b24bc92429p+1,
      0x1.218e5dac50b23p+1, 0x1.1d33a7661d303p+1, 0x1.19b9e1b8c996dp+1, 0x1.16e356bbc352dp+1,
      0x1.1486f5cb67d3dp+1, 0x1.12885ec4c0666p+1, 0x1.10d356b5a06c0p+1, 0x1.0f590e8d62dd6p+1,
      0x1.0e0e6fd5b1560p+1, 0x1.0ceb036f23f31p+1, 0x1.0be83653b666dp+1, 0x1.0b00d9a954437p+1,
      0x1.0a30c955b504cp+1, 0x1.0974ac3559fb3p+1, 0x1.08c9c5c7af877p+1, 0x1.082dd3fc3a167p+1,
      0x1.079ef594769a4p+1, 0x1.071b96b177db3p+1, 0x1.06a261e29bdacp+1, 0x1.0632348973a2fp+1,
      0x1.05ca15bce2871p+1, 0x1.05692f10aaee9p+1, 0x1.050ec6d0032d6p+1, 0x1.04ba3b5725836p+1,
      0x1.046aff4ce0d8fp+1, 0x1.0420968c7f61bp+1, 0x1.03da939b97bfbp+1, 0x1.0398958fb660cp+1,
      0x1.035a464e0e4cap+1, 0x1.031f59141b8acp+1, 0x1.02e7893bbcad5p+1, 0x1.02b299300ed51p+1,
      0x1.0280518a7d28fp+1, 0x1.02508051216f5p+1, 0x1.0222f850e412bp+1, 0x1.01f7908ed3d0dp+1,
      0x1.01ce23cd00c4cp+1, 0x1.01a6901fcf861p+1, 0x1.0180b69140f87p+1, 0x1.015c7ad019361p+1,
      0x1.0139c2e92927dp+1, 0x1.01187709471ccp+1, 0x1.00f88146be526p+1, 0x1.00d9cd712e717p+1,
      0x1.00bc48e6fc925p+1, 0x1.009fe26f9904fp+1, 0x1.00848a19f91ffp+1, 0x1.006a311ebbcb4p+1,
      0x1.0050c9c58322ap+1, 0x1.0038474d1e1a9p+1, 0x1.00209dd62b0abp+1, 0x1.0009c24fe7d7ep+1,
      0x1.ffe754cddd110p+0, 0x1.ffbc98eb4b3afp+0, 0x1.ff933eec65c15p+0, 0x1.ff6b35eb8b3b6p+0},
     0x1.f5c0331eeff83p+0, 0x1.044083d4a5905p-55,
     {
      0x1.2fa6956bafdf7p+1, 0x1.6947a277cdd1fp+1, 0x1.47261510ed9fcp+1, 0x1.96ebb5de22e5fp+0,
      0x1.773beee6cbff1p-1, 0x1.4235ac0398104p-1, 0x1.4c91898ed7d0cp-5}},
    {0x1.fae147ae147aep-1, // 0.99
     {
      0x1.fd410182c3c30p+5, 0x1.3d9850c4bbe78p+3, 0x1.75d175480d3a8p+2, 0x1.26a97d89084a7p+2,
      0x1.020ea171ca98ap+2, 0x1.da8d005bee94dp+1, 0x1.bfef11958261ep+1, 0x1.ad7d5502beaccp+1,
      0x1.9ffa9c6c4220ep+1, 0x1.95aaba187f876p+1, 0x1.8d8b1161f8f35p+1, 0x1.86fb273c63cfep+1,
      0x1.81924132e8ca4p+1, 0x1.7d092ec6ba9e1p+1, 0x1.792de3449d2f6p+1, 0x1.75dc2c15896c8p+1,
      0x1.72f937b9244cep+1, 0x1.7070bcc6f292ap+1, 0x1.6e331aed617fep+1, 0x1.6c341773c54ecp+1,
      0x1.6a69fd7076879p+1, 0x1.68ccffa3d6f6ep+1, 0x1.6756c69357ccfp+1, 0x1.66021d1af2c7ep+1,
      0x1.64cab25db88adp+1, 0x1.63aceaf6c912fp+1, 0x1.62a5bd3836550p+1, 0x1.61b2958a3c5c1p+1,
      0x1.60d140d7b5d81p+1, 0x1.5fffdb8a1b4ffp+1, 0x1.5f3cc3ff1c691p+1, 0x1.5e868faaf8d3ap+1,
      0x1.5ddc024ee8a4dp+1, 0x1.5d3c06d09465fp+1, 0x1.5ca5a95b27c71p+1, 0x1.5c181286e0f37p+1,
      0x1.5b9283532a498p+1, 0x1.5b1451cab7eb9p+1, 0x1.5a9ce631cecc1p+1, 0x1.5a2bb8a57ea99p+1,
      0x1.59c04f17b7dbfp+1, 0x1.595a3b98210f4p+1, 0x1.58f91adcae919p+1, 0x1.589c92ff710a5p+1,
      0x1.5844526903476p+1, 0x1.57f00ee08ba81p+1, 0x1.579f84bb83d05p+1, 0x1.5752762879afdp+1,
      0x1.5708aa90cc90dp+1, 0x1.56c1ee0e11e4bp+1, 0x1.567e10f057b77p+1, 0x1.563ce752ec2dep+1,
      0x1.55fe48bdaf0e0p+1, 0x1.55c20fd13fd21p+1, 0x1.558819fc9b33bp+1, 0x1.5550473af0e03p+1,
      0x1.551a79d8a70acp+1, 0x1.54e6963ea7633p+1, 0x1.54b482c330dc0p+1, 0x1.5484277f84a27p+1,
      0x1.54556e29db89cp+1, 0x1.542841f324a31p+1, 0x1.53fc8f681e562p+1, 0x1.53d2445569849p+1},
     0x1.49b4c64d69160p+1, 0x1.416f176f26e49p-54,
     {
      0x1.3aa8b74252f6ap+2, 0x1.1ab65ef2fc225p+3, 0x1.849e123090d9dp+3, 0x1.81c11f12233b0p+3,
      0x1.0e97cb0150de7p+3, 0x1.810bcfd6be098p+2, 0x1.99988c9e23f88p+2}},
    {0x1.ff7ced916872bp-1, // 0.999
     {
      0x1.3e4f438b2cde5p+9, 0x1.f995ba406582cp+4, 0x1.9d913ba558d00p+3, 0x1.1387972e9712fp+3,
      0x1.b79adafe036acp+2, 0x1.7d5d3e88b9be9p+2, 0x1.5a1abf49ed836p+2, 0x1.42a4bf8b5f160p+2,
      0x1.31fa78c866fa5p+2, 0x1.258fab425677dp+2, 0x1.1bf7782fafa8ep+2, 0x1.1456b14082b71p+2,
      0x1.0e221b661af5fp+2, 0x1.08fd333f33275p+2, 0x1.04a82f5a2c678p+2, 0x1.00f5b327b4335p+2,
      0x1.fb8941f7a17d4p+1, 0x1.f5f87d8a9e2b4p+1, 0x1.f1137166fd2edp+1, 0x1.ecbcf3051fb2ep+1,
      0x1.e8de12f9758f4p+1, 0x1.e56489b08d326p+1, 0x1.e241985a06aadp+1, 0x1.df6938d22acb4p+1,
      0x1.dcd184567d087p+1, 0x1.da7240ec9c2aap+1, 0x1.d8448a907333ep+1, 0x1.d642909fc9dcep+1,
      0x1.d4676238b68bdp+1, 0x1.d2aec5c609821p+1, 0x1.d1151900d3e9ap+1, 0x1.cf9737695ada3p+1,
      0x1.ce3265be49d37p+1, 0x1.cce44157fb8b2p+1, 0x1.cbaab2929f1f1p+1, 0x1.ca83e1a490c8dp+1,
      0x1.c96e2d63b70bbp+1, 0x1.c8682398c02f9p+1, 0x1.c7707a9448501p+1, 0x1.c6860bca0fd4ap+1,
      0x1.c5a7cf42ca611p+1, 0x1.c4d4d7bea08bdp+1, 0x1.c40c4f69f31fep+1, 0x1.c34d750bc73b2p+1,
      0x1.c2979999df9c3p+1, 0x1.c1ea1e223123cp+1, 0x1.c14471fc4d4dcp+1, 0x1.c0a61137b69b5p+1,
      0x1.c00e833df8217p+1, 0x1.bf7d59a0e303ep+1, 0x1.bef22f0e956a7p+1, 0x1.be6ca665f5199p+1,
      0x1.bdec69e71fc4fp+1, 0x1.bd712a7c057e1p+1, 0x1.bcfa9f15f56b3p+1, 0x1.bc88841d5ff00p+1,
      0x1.bc1a9af178293p+1, 0x1.bbb0a975b4b54p+1, 0x1.bb4a79ab7829dp+1, 0x1.bae7d95666ae9p+1,
      0x1.ba8899aa21ea4p+1, 0x1.ba2c8f005053ep+1, 0x1.b9d39095fa5b4p+1, 0x1.b97d784f67c5ap+1},
     0x1.a52ffadd2f8c0p+1, 0x1.a4acb86f9eccap-54,
     {
      0x1.3759f41eb3658p+3, 0x1.a220da4f76816p+4, 0x1.a9594db144ff3p+5, 0x1.3d769d1ad7273p+6,
      0x1.58dd2648cfac3p+6, 0x1.4e7268eba8616p+6, 0x1.ecf2cc52fec7cp+6}},
};

} // namespace straggle::detail::student_t
// clang-format on
