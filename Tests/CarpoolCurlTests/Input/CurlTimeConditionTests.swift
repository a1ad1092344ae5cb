import CarpoolExchange
import Glibc
import Testing

@testable import CarpoolCurl

/// The expectations are the fields that the real curl 8.14.1 sent for `-z`.
struct CurlTimeConditionTests {
    static let dates: [(String, String?)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Sun Nov  6 08:49:37 1994", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Nov  6 08:49:37 1994", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("06 Nov 1994 08:49:37 GMT", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("06-Nov-94 08:49:37 GMT", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("1994 Nov 6 08:49:37", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("GMT 08:49:37 06-Nov-94 Sunday", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("94 6 Nov 08:49:37", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ("1994 Nov 6", "If-Modified-Since: Sun, 06 Nov 1994 00:00:00 GMT"),
        ("06-Nov-94", "If-Modified-Since: Sun, 06 Nov 1994 00:00:00 GMT"),
        ("Sun Nov 6 94", "If-Modified-Since: Sun, 06 Nov 1994 00:00:00 GMT"),
        ("1994.Nov.6", "If-Modified-Since: Sun, 06 Nov 1994 00:00:00 GMT"),
        ("Sun/Nov/6/94/GMT", "If-Modified-Since: Sun, 06 Nov 1994 00:00:00 GMT"),
        ("Sun, 06 Nov 1994 08:49:37 CET", "If-Modified-Since: Sun, 06 Nov 1994 07:49:37 GMT"),
        ("06 Nov 1994 08:49:37 EST", "If-Modified-Since: Sun, 06 Nov 1994 13:49:37 GMT"),
        ("Sun, 12 Sep 2004 15:05:58 -0700", "If-Modified-Since: Sun, 12 Sep 2004 22:05:58 GMT"),
        ("Sat, 11 Sep 2004 21:32:11 +0200", "If-Modified-Since: Sat, 11 Sep 2004 19:32:11 GMT"),
        ("20040912 15:05:58 -0700", "If-Modified-Since: Sun, 12 Sep 2004 22:05:58 GMT"),
        ("20040911 +0200", "If-Modified-Since: Fri, 10 Sep 2004 22:00:00 GMT"),
        ("20200101", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("2020-01-01", nil),
        ("Thu, 01-Jan-1970 00:59:58 GMT", "If-Modified-Since: Thu, 01 Jan 1970 00:59:58 GMT"),
        ("Thu, 01-Jan-1970 00:00:00 GMT", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT"),
        ("Wed, 31 Dec 1969 23:59:59 GMT", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT"),
        ("Jan 1 2020 24:00", nil),
        ("Jan 1 2020 23:59:60", "If-Modified-Since: Thu, 02 Jan 2020 00:00:00 GMT"),
        ("Jan 1 2020 12:60", nil),
        ("Jan 1 2020 1:2", "If-Modified-Since: Wed, 01 Jan 2020 01:02:00 GMT"),
        ("Jan 1 2020 1:2:3", "If-Modified-Since: Wed, 01 Jan 2020 01:02:03 GMT"),
        ("31 Feb 2021", "If-Modified-Since: Wed, 03 Mar 2021 00:00:00 GMT"),
        ("0 Jan 2020", nil),
        ("32 Jan 2020", nil),
        ("1 Jan 70", "If-Modified-Since: Wed, 01 Jan 2070 00:00:00 GMT"),
        ("1 Jan 71", "If-Modified-Since: Fri, 01 Jan 1971 00:00:00 GMT"),
        ("1 Jan 99", "If-Modified-Since: Fri, 01 Jan 1999 00:00:00 GMT"),
        ("1 Jan 00", "If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT"),
        ("1 Jan 100", nil),
        ("1 Jan 1582", nil),
        ("1 Jan 1583", "If-Modified-Since: Sat, 01 Jan 1583 00:00:00 GMT"),
        ("1 Jan 9999", "If-Modified-Since: Fri, 01 Jan 9999 00:00:00 GMT"),
        ("1 Jan 99999999", "If-Modified-Since: Fri, 01 Jan 99999999 00:00:00 GMT"),
        ("1 Jan 999999999", nil),
        ("1 Foo 2020", nil),
        ("January 1 2020", nil),
        ("jan 1 2020", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("JAN 1 2020 utc", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("1 Jan 2020 Z", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("1 Jan 2020 A", "If-Modified-Since: Wed, 01 Jan 2020 01:00:00 GMT"),
        ("1 Jan 2020 J", nil),
        ("1 Jan 2020 PDT", "If-Modified-Since: Wed, 01 Jan 2020 07:00:00 GMT"),
        ("1 Jan 2020 +1400", "If-Modified-Since: Tue, 31 Dec 2019 10:00:00 GMT"),
        ("1 Jan 2020 +1500", nil),
        ("1 Jan 2020 -0030", "If-Modified-Since: Wed, 01 Jan 2020 00:30:00 GMT"),
        ("1 Jan 2020 +0000 GMT", nil),
        ("Mon Mon 1 Jan 2020", nil),
        ("1 Jan 2020 Tuesday", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("Tues 1 Jan 2020", nil),
        ("1 Jan", nil),
        ("Jan 2020", nil),
        ("2020 Jan", nil),
        ("1 2020", nil),
        (" ", nil),
        ("now", nil),
        ("tomorrow", nil),
        ("12:00", nil),
        ("1 Jan 2020 12:00:00 PM", nil),
        ("1 Jan 2020 12:00 1 2", nil),
        ("20201301", nil),
        ("20200132", nil),
        ("20200100", "If-Modified-Since: Tue, 31 Dec 2019 00:00:00 GMT"),
        ("00000101", nil),
        ("20200101 20200102", nil),
        ("1 Jan 2020 GMT GMT", nil),
        ("1 Jan 2020 @#$", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("2020 1 Jan 10:11:12 +0100 Wed", "If-Modified-Since: Wed, 01 Jan 2020 09:11:12 GMT"),
        ("1-1-2020", nil),
        ("1. Jan. 2020", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("Jan1 2020", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("1Jan2020", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("1Jan2020 1:2", "If-Modified-Since: Wed, 01 Jan 2020 01:02:00 GMT"),
        ("Thu, 09 Feb 2012 16:43:39 GMT; x", "If-Modified-Since: Thu, 09 Feb 2012 16:43:39 GMT"),
        ("1 Jan 2020 10:00:00.5", nil),
        ("1 Jan 2020 10:00:00 -0800 (PST)", nil),
        ("1 Jan 2020 10:00:00 (PST)", "If-Modified-Since: Wed, 01 Jan 2020 18:00:00 GMT"),
        ("wed 1 jan 2020 sat", nil),
        ("1 Jan 2020 MESZ", "If-Modified-Since: Tue, 31 Dec 2019 22:00:00 GMT"),
        ("1 Jan 2020 IDLW", "If-Modified-Since: Wed, 01 Jan 2020 12:00:00 GMT"),
        ("29 Feb 2100", "If-Modified-Since: Mon, 01 Mar 2100 00:00:00 GMT"),
        ("29 Feb 2000", "If-Modified-Since: Tue, 29 Feb 2000 00:00:00 GMT"),
        ("31 Dec 2037 23:59:59", "If-Modified-Since: Thu, 31 Dec 2037 23:59:59 GMT"),
        ("19 Jan 2038 03:14:08", "If-Modified-Since: Tue, 19 Jan 2038 03:14:08 GMT"),
        ("+1 Jan 2020", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("-1 Jan 2020", "If-Unmodified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("=1 Jan 2020", "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("--1 Jan 2020", "If-Unmodified-Since: Wed, 01 Jan 2020 00:00:00 GMT"),
        ("nofile", nil),
    ]

    @Test(arguments: dates)
    func fields(_ text: String, _ line: String?) {
        let (condition, warnings) = CurlTimeCondition.read(text)
        #expect(condition?.field.line == line)
        if line != nil {
            #expect(warnings.isEmpty)
        } else {
            #expect(warnings.first == "Failed to get filetime: No such file or directory")
            #expect(warnings.count == 2)
        }
    }

    @Test func aFileGivesItsTime() throws {
        let folder = try TemporaryFolder(["f": []])
        let path = "\(folder.path)/f"
        let file = try CurlOutputFile.open(path, .appending)
        #expect(CurlOutputFile.setTime(of: path, file, 1_600_000_000) == nil)
        #expect(
            CurlTimeCondition.read(path).condition?.field.line == "If-Modified-Since: Sun, 13 Sep 2020 12:26:40 GMT")
        #expect(CurlTimeCondition.read("-\(path)").condition?.kind == .unmodifiedSince)
        // The open file gets it, not what has its name by now.
        #expect(rename(path, "\(folder.path)/g") == 0 && symlink("/nofile", path) == 0)
        #expect(CurlOutputFile.setTime(of: path, file, 1_500_000_000) == nil)
        #expect(
            CurlTimeCondition.read("\(folder.path)/g").condition?.field.line
                == "If-Modified-Since: Fri, 14 Jul 2017 02:40:00 GMT")
    }

    @Test(
        "A response that is not wanted is one of the status 304",
        arguments: [
            ("1 Jan 2020", "Wed, 01 Jan 2020 00:00:00 GMT", false),
            ("1 Jan 2020", "Wed, 01 Jan 2020 00:00:01 GMT", true),
            ("-1 Jan 2020", "Wed, 01 Jan 2020 00:00:00 GMT", false),
            ("-1 Jan 2020", "Tue, 31 Dec 2019 00:00:00 GMT", true),
            ("=1 Jan 2020", "Tue, 31 Dec 2019 00:00:00 GMT", false), ("1 Jan 2020", "no date", true),
            ("Jan 1 1970", "Tue, 31 Dec 2019 00:00:00 GMT", true),
        ])
    func conditions(_ text: String, _ modified: String, _ isMet: Bool) throws {
        let condition = try #require(CurlTimeCondition.read(text).condition)
        #expect(condition.isMet(lastModified: modified) == isMet)
        #expect(condition.isMet(lastModified: nil))
    }
}
