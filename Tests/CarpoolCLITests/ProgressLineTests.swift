import Testing

@testable import CarpoolCLI

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
        #expect(ProgressLine(received: received, total: total, microseconds: microseconds).running == expected)
    }

    @Test func countsAsFastWhatCameThisTime() {
        let line = ProgressLine(received: 3_145_728, total: nil, earlier: 1_048_576, microseconds: 2_000_000)
        #expect(line.running == "3.00 MiB  1.00 MiB/s")
        #expect(line.summary == "3.00 MiB in 0:02, 1.00 MiB/s")
    }
}
