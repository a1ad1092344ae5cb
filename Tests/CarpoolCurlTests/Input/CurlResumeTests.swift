import Testing

@testable import CarpoolCurl

/// Responses to downloads that go on at the offset 3. The expectations are what curl 8.14.1 does.
struct CurlResumeTests {
    @Test(
        arguments: [
            (206, "bytes 3-5/6", 3, .write), (206, "bytes: 3-5/6", 3, .write), (206, "3-", nil, .write),
            (200, "bytes 3-5/6", 3, .write), (206, "bytes 0-5/6", 6, .refuse), (206, "bytes 0-2/3", 3, .drop),
            (206, "bytes */6", 6, .write), (206, "", 6, .write), (206, nil, 3, .drop), (206, nil, 6, .refuse),
            (200, nil, 3, .drop), (200, nil, nil, .refuse), (416, nil, 6, .drop), (416, "bytes */3", nil, .drop),
            (404, nil, 9, .refuse), (404, "bytes */6", 9, .refuse),
        ] as [(Int, String?, Int64?, CurlResume.Decision)])
    func decides(_ status: Int, _ range: String?, _ length: Int64?, _ expected: CurlResume.Decision) {
        #expect(
            CurlResume.decide(status: status, contentRange: range, contentLength: length, offset: 3) == expected)
    }
}
