import Testing

@testable import CarpoolCaller

struct ProgressLineTests {
    @Test(arguments: [
        (Int64(0), Int64(0), 0, "0 B  0 B/s"),
        (512, nil, 1_000_000, "512 B  512 B/s"),
        (
            471_859_200, 1_073_741_824, 3_932_160,
            " 43% [########            ] 450 MiB of 1.00 GiB  114 MiB/s  0:06 left"
        ),
        (
            1_073_741_824, 1_073_741_824, 10_000_000,
            "100% [####################] 1.00 GiB of 1.00 GiB  102 MiB/s  0:00 left"
        ),
        (1, 1_000_000, 1_000_000, "  0% [                    ] 1 B of 977 KiB  1 B/s  99:59:59 left"),
    ])
    func showsHowFarItIs(_ received: Int64, _ total: Int64?, _ microseconds: Int, _ expected: String) {
        #expect(ProgressLine(received: received, total: total, microseconds: microseconds).running(80) == expected)
    }

    @Test func countsAsFastWhatCameThisTime() {
        let line = ProgressLine(received: 3_145_728, total: nil, earlier: 1_048_576, microseconds: 2_000_000)
        #expect(line.running(80) == "3.00 MiB  1.00 MiB/s")
        #expect(line.summary == "3.00 MiB in 0:02, 1.00 MiB/s")
    }

    @Test(arguments: [
        (72, " 43% [########            ] 450 MiB of 1.00 GiB  114 MiB/s  0:06 left"),
        (69, " 43% 450 MiB of 1.00 GiB  114 MiB/s  0:06 left"), (46, " 43% 450 MiB of 1.00 GiB  114 MiB/s"),
        (35, " 43% 450 MiB  114 MiB/s"), (24, " 43% 450 MiB  114 MiB/s"), (23, " 43% 114 MiB/s"), (5, " 43%"),
        (3, "45"),
    ])
    func fitsAnyWidth(_ columns: Int, _ expected: String) {
        let line = ProgressLine(received: 471_859_200, total: 1_073_741_824, microseconds: 3_932_160)
        #expect(line.running(columns) == expected)
    }

    @Test func saysWhatIsPausedOrSent() {
        var line = ProgressLine(received: 471_859_200, total: 1_073_741_824, microseconds: 3_932_160)
        line.pause = .request
        #expect(line.running(80) == " 43% [########            ] 450 MiB of 1.00 GiB  paused")
        #expect(line.running(20) == " 43% paused")
        line.isUpload = true
        #expect(line.running(80) == " 43% [########            ] 450 MiB sent of 1.00 GiB  paused")
        line.isUpload = false
        line.pause = .output
        #expect(line.running(60) == " 43% 450 MiB of 1.00 GiB  paused: output not read")
        #expect(line.running(80) == " 43% [########            ] 450 MiB of 1.00 GiB  paused: output not read")
        #expect(
            (line.running(40), line.running(24)) == (" 43% 450 MiB  paused: output not read", " 43% 450 MiB  paused"))
        var unknown = ProgressLine(received: 512, total: nil, microseconds: 1_000_000)
        unknown.pause = .output
        #expect((unknown.running(80), unknown.running(20)) == ("512 B  paused: output not read", "512 B  paused"))
        unknown.pause = nil
        #expect((unknown.running(20), unknown.running(8)) == ("512 B  512 B/s", "512 B"))
    }

    @Test(arguments: [
        ("a", 0, "a   43% 450 MiB of 1.00 GiB  114 MiB/s  0:06 left"),
        ("a", 4, "a      43% 450 MiB of 1.00 GiB  114 MiB/s  0:06 left"),
        (
            "a-name-that-is-longer-than-a-third-of-the-line", 50,
            "a-name-that-is-l...   43% 450 MiB of 1.00 GiB  114 MiB/s"
        ),
        ("a\u{1B}[2J", 0, #"a\u{1b}[2J   43% 450 MiB of 1.00 GiB  114 MiB/s"#),
    ])
    func beginsWithTheNameOfATransfer(_ name: String, _ width: Int, _ expected: String) {
        let line = ProgressLine(received: 471_859_200, total: 1_073_741_824, microseconds: 3_932_160)
        #expect(line.running(58, name: name, width: width) == expected)
    }
}
