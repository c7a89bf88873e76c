package partita.drivers;

import static partita.drivers.Main.check;
import static partita.drivers.World.equal;
import static partita.drivers.World.truth;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.PagingIterable;
import com.datastax.oss.driver.api.mapper.annotations.ClusteringColumn;
import com.datastax.oss.driver.api.mapper.annotations.Dao;
import com.datastax.oss.driver.api.mapper.annotations.DaoFactory;
import com.datastax.oss.driver.api.mapper.annotations.Delete;
import com.datastax.oss.driver.api.mapper.annotations.Entity;
import com.datastax.oss.driver.api.mapper.annotations.Insert;
import com.datastax.oss.driver.api.mapper.annotations.Mapper;
import com.datastax.oss.driver.api.mapper.annotations.PartitionKey;
import com.datastax.oss.driver.api.mapper.annotations.Query;
import com.datastax.oss.driver.api.mapper.annotations.Select;
import com.datastax.oss.driver.api.mapper.annotations.Update;
import java.util.Set;

/** The driver's object mapper, with generated code. */
public final class MapperChecks {
  /** One row of the table `video`. */
  @Entity
  public static class Video {
    @PartitionKey private int userId;
    @ClusteringColumn private int videoId;
    private String name;
    private Set<String> tags;

    public Video() {}

    public Video(int userId, int videoId, String name, Set<String> tags) {
      this.userId = userId;
      this.videoId = videoId;
      this.name = name;
      this.tags = tags;
    }

    public int getUserId() { return userId; }
    public void setUserId(int userId) { this.userId = userId; }
    public int getVideoId() { return videoId; }
    public void setVideoId(int videoId) { this.videoId = videoId; }
    public String getName() { return name; }
    public void setName(String name) { this.name = name; }
    public Set<String> getTags() { return tags; }
    public void setTags(Set<String> tags) { this.tags = tags; }
  }

  @Dao
  public interface VideoDao {
    @Select Video find(int userId, int videoId);
    @Select PagingIterable<Video> findAll(int userId);
    @Insert void save(Video video);
    @Insert(ifNotExists = true) Video saveIfAbsent(Video video);
    @Update void update(Video video);
    @Delete void remove(Video video);
    @Query("SELECT count(*) FROM video WHERE user_id = :userId") long count(int userId);
  }

  @Mapper
  public interface VideoMapper {
    @DaoFactory VideoDao videos();
  }

  static void register() {
    check("mapper: save, find, update, conditional save, remove", w -> {
      w.execute("CREATE TABLE video (user_id int, video_id int, name text, tags set<text>, PRIMARY KEY (user_id, video_id))");
      VideoDao videos = mapper(w.session).videos();
      for (int i = 0; i < 5; i++) {
        videos.save(new Video(1, i, "video " + i, Set.of("t")));
      }
      equal(videos.find(1, 3).getName(), "video 3", "name");
      equal(videos.findAll(1).all().size(), 5, "all");
      videos.update(new Video(1, 3, "changed", Set.of("t", "u")));
      equal(videos.find(1, 3).getTags(), Set.of("t", "u"), "tags");
      equal(videos.saveIfAbsent(new Video(1, 3, "again", null)).getName(), "changed", "the row that is there");
      truth(videos.saveIfAbsent(new Video(2, 1, "new", null)) == null, "saved");
      videos.remove(new Video(1, 4, null, null));
      equal(videos.count(1), 4L, "count");
    });
  }

  private static VideoMapper mapper(CqlSession session) {
    return new MapperChecks_VideoMapperBuilder(session).build();
  }

  private MapperChecks() {}
}
