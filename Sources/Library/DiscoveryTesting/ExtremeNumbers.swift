/// Numbers at the limits of common conversions, as text, for testing everything that reads numbers.
package enum ExtremeNumbers {
    /// Whole numbers in JSON: zero, and both sides of the limits of 16, 32, 53, 63 and 64 bits.
    package static let whole = [
        "0", "-0", "1", "-1", "99", "100", "101", "32767", "32768", "65535", "65536", "2147483647", "2147483648",
        "-2147483648", "-2147483649", "4294967295", "4294967296", "9007199254740991", "9007199254740992",
        "9007199254740993", "-9007199254740993", "922337203685477580", "1000000000000000000", "9223372036854774784",
        "9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775807",
        "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
        "170141183460469231731687303715884105728", "99999999999999999999999999999999999999999999",
    ]
    /// JSON numbers with a fraction or an exponent.
    package static let others = [
        "0.0", "0.5", "-0.5", "1.5", "1e0", "1E+3", "1e-3", "1e15", "1e16", "1e18", "9.3e18", "-9.3e18", "1e19",
        "1.8446744073709552e19", "1e38", "1e300", "-1e300", "1e308", "-1e308", "1e309", "1e-308", "5e-324", "1e-400",
        "1e99999999999999999999",
    ]
    /// Texts that `Double(_:)` reads but JSON does not allow, and texts that are no numbers at all.
    package static let texts = [
        "", " ", "+1", "01", "inf", "-inf", "infinity", "nan", "-nan", "nan(0x1)", "0x10", "0x1p1023", "0x1p-1074",
        "1_000",
        "٣", "1e", "--1", "\u{0}",
    ]
    /// All three lists.
    package static let all = whole + others + texts
}
