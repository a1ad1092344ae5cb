import Testing

@testable import CarpoolCurl

/// The lines are those that the real curl 8.14.1 printed for transfers with these numbers.
struct CurlMeterTests {
    private static func progress(
        _ downloaded: Int64, of downloadTotal: Int64? = nil, sent uploaded: Int64 = 0, ofSent uploadTotal: Int64? = nil,
        in microseconds: Int64, speed: Int64
    ) -> CurlProgress {
        CurlProgress(
            downloadedBytes: downloaded, downloadTotal: downloadTotal, uploadedBytes: uploaded,
            uploadTotal: uploadTotal,
            elapsedMicroseconds: microseconds, currentSpeed: speed)
    }

    static let lines: [(CurlProgress, String)] = [
        (
            progress(0, in: 0, speed: 0),
            "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"
        ),
        (
            progress(3_000_000, of: 3_000_000, in: 6_683, speed: 476 << 20),
            "100 2929k  100 2929k    0     0   428M      0 --:--:-- --:--:-- --:--:--  476M"
        ),
        (
            progress(604_200, of: 3_000_000, in: 576_500, speed: 1_022 << 10),
            " 20 2929k   20  590k    0     0  1023k      0  0:00:02 --:--:--  0:00:02 1022k"
        ),
        (
            progress(1_628_200, of: 3_000_000, in: 1_553_000, speed: 1_023 << 10),
            " 54 2929k   54 1590k    0     0  1023k      0  0:00:02  0:00:01  0:00:01 1023k"
        ),
        (
            progress(2_652_200, of: 3_000_000, in: 2_530_000, speed: 1_023 << 10),
            " 88 2929k   88 2590k    0     0  1023k      0  0:00:02  0:00:02 --:--:-- 1023k"
        ),
        (
            progress(3_000_000, of: 3_000_000, sent: 2_000_000, ofSent: 2_000_000, in: 23_022, speed: 216 << 20),
            "100 4882k  100 2929k  100 1953k   124M  82.8M --:--:-- --:--:-- --:--:--  216M"
        ),
        (
            progress(5, of: 5, in: 964, speed: 5_000),
            "100     5  100     5    0     0   5186      0 --:--:-- --:--:-- --:--:--  5000"
        ),
    ]

    @Test(arguments: lines)
    func transfers(_ progress: CurlProgress, _ line: String) {
        #expect(CurlMeter.line(progress, width: 80) == line)
        for width in [0, 1, 20, 40, 79] { #expect(CurlMeter.line(progress, width: width).count <= max(0, width - 1)) }
    }

    @Test func theHeaderSaysWhereATransferGoesOn() {
        let text = """
            ** Resuming transfer from byte position 5
              % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                             Dload  Upload   Total   Spent    Left  Speed

            """
        #expect(CurlMeter.start(resumesAt: 5, width: 80) == text)
        #expect(CurlMeter.start(resumesAt: nil, width: 20) == "  % Total    % Recei\n                    \n")
    }

    @Test func transfersInParallel() {
        let running = CurlMeterTests.progress(856 << 10, of: 3_000_000, in: 500_000, speed: 1_703 << 10)
        #expect(
            CurlMeter.parallelLine(running, started: 1, running: 1, width: 80)
                == " 29 --   856k     0     1     1   0:00:01 --:--:--  0:00:01 1703k")
        let start = CurlMeterTests.progress(0, in: 0, speed: 0)
        #expect(
            CurlMeter.parallelLine(start, started: 1, running: 1, width: 80)
                == "--  --      0     0     1     1  --:--:-- --:--:-- --:--:--     0")
        let end = CurlMeterTests.progress(3_000_000, of: 3_000_000, in: 1_902_484, speed: 1_539 << 10)
        #expect(
            CurlMeter.parallelLine(end, started: 1, running: 0, width: 80)
                == "100 --  2929k     0     1     0   0:00:01  0:00:01 --:--:-- 1539k")
        let mixed = CurlMeterTests.progress(1_000_008, of: 8, in: 4_100_000, speed: 6_576 << 10)
        #expect(
            CurlMeter.parallelLine(mixed, started: 2, running: 0, width: 80)
                == "125 --   976k     0     2     0  --:--:--  0:00:04 --:--:-- 6576k")
    }

    @Test(arguments: [
        (0, "    0"), (99_999, "99999"), (100_000, "  97k"), (10_239_999, "9999k"), (10_240_000, " 9.7M"),
        (104_857_599, "99.9M"), (104_857_600, " 100M"), (10_485_759_999, "9999M"), (10_485_760_000, " 9.7G"),
        (107_374_182_400, " 100G"), (10_995_116_277_760, "  10T"), (Int64.max, "8191P"),
    ])
    func sizesHaveFiveColumns(_ bytes: Int64, _ text: String) {
        #expect(CurlProgress.size(bytes) == text && text.count == 5)
    }

    @Test(arguments: [
        (0, "--:--:--"), (59, " 0:00:59"), (3_661, " 1:01:01"), (359_999, "99:59:59"), (360_000, "  4d 04h"),
        (86_400_000, "   1000d"),
    ])
    func timesHaveEightColumns(_ seconds: Int64, _ text: String) {
        #expect(CurlProgress.time(seconds) == text && text.count == 8)
    }

    @Test(
        "The bar of -# at 60 columns",
        arguments: [
            (298_000, "#####                                                   9.9%"),
            (1_527_500, "##########################                             50.9%"),
            (3_000_000, "##################################################### 100.0%"),
        ])
    func bars(_ bytes: Int64, _ line: String) {
        let progress = CurlMeterTests.progress(bytes, of: 3_000_000, in: 1, speed: 1)
        #expect(CurlProgressBar.line(progress, width: 60) == line)
        for width in [0, 5, 7, 8, 20, 1_000] {
            #expect(CurlProgressBar.line(progress, width: width).count == min(width, 400))
        }
    }

    @Test func aBarOfAnUnknownLengthMovesToAndFro() {
        func line(_ milliseconds: Int64, _ width: Int = 10) -> String {
            CurlProgressBar.line(CurlMeterTests.progress(5, in: milliseconds * 1_000, speed: 1), width: width)
        }
        #expect(line(0) == "-=O=-     ")
        #expect(line(500) == "     -=O=-")
        #expect(line(600) == "    -=O=- ")
        #expect(line(1_000) == "-=O=-     ")
        #expect(line(0, 3) == "-=O")
    }

    @Test func aBarCountsWhatWasThereBefore() {
        let progress = CurlMeterTests.progress(50, of: 100, in: 1, speed: 1)
        #expect(CurlProgressBar.line(progress, resumesAt: 100, width: 27) == "###############       75.0%")
        let more = CurlMeterTests.progress(200, of: 100, in: 1, speed: 1)
        #expect(CurlProgressBar.line(more, width: 17) == "########## 100.0%")
    }
}
