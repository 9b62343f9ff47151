#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <time.h>
static double now(void){struct timespec t; clock_gettime(CLOCK_MONOTONIC,&t); return t.tv_sec*1e3+t.tv_nsec/1e6;}
#define N __attribute__((noinline)) static
N void conv(int w, int h, int c, int k, float *out, const float *in, const float *f)
{ /* c channels, k outputs: direct convolution, accumulating in the output row */
  for (int y = 0; y < h - 2; y++) {
    float *row = out + (size_t)y * w * k;
    memset(row, 0, sizeof(float) * w * k);
    for (int d = 0; d < 3; d++)
      for (int x = 0; x < w - 2; x++)
        for (int e = 0; e < 3; e++)
          for (int i = 0; i < c; i++)
            for (int o = 0; o < k; o++)
              row[x * k + o] += in[((size_t)(y + d) * w + x + e) * c + i] * f[((d * 3 + e) * c + i) * k + o];
  }
}
N void entropy(int n, int m, const unsigned char *a, int *out)
{ for (int i = 0; i < n; i++) { int h[256]; memset(h, 0, sizeof h); for (int j = 0; j < m; j++) h[a[(size_t)i*m+j]]++; long s = 0; for (int j = 0; j < 256; j++) s += (long)h[j]*h[j]; out[i] = (int)(s % 1000003); } }
static inline uint32_t rd(const unsigned char *p){uint32_t x; memcpy(&x,p,4); return x;}
static inline void wr(unsigned char *p, uint32_t x){memcpy(p,&x,4);}
N void hash(int n, unsigned char *to, const unsigned char *from)
{ for (int i = 0; i < n; i++) { uint32_t x = rd(from + 4*(size_t)i); for (int k = 0; k < 20; k++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; } wr(to + 4*(size_t)i, x); } }
N void rows(int n, int m, double *to, const double *from)
{ for (int i = 0; i < n; i++) memcpy(to + (size_t)i*m, from + (size_t)(n-1-i)*m, m * sizeof *to); }
struct p { double x[3], v[3]; int id; };
N void bodies(int n, struct p *to, const struct p *from)
{ for (int i = 0; i < n; i++) { struct p q; memcpy(&q, &from[i], sizeof q); for (int k = 0; k < 40; k++) for (int d = 0; d < 3; d++) { q.v[d] -= q.x[d] * 0.01; q.x[d] += q.v[d] * 0.01; } memcpy(&to[i], &q, sizeof q); } }
static unsigned long sum(const void *p, size_t n){const unsigned char *c=p; unsigned long s=0; for(size_t i=0;i<n;i+=97) s=s*31+c[i]; return s;}
int main(int argc, char **argv){
  int only = argc>1?atoi(argv[1]):-1;
  for (int r=0;r<6;r++){
    double t;
    static float *in,*out,*f; int w=512,h=512,c=8,k=16;
    if(!in){in=malloc(4ul*w*h*c);out=malloc(4ul*w*h*k);f=malloc(4ul*9*c*k);for(int i=0;i<w*h*c;i++)in[i]=i%17*0.1f;for(int i=0;i<9*c*k;i++)f[i]=i%5*0.2f;}
    if(only<0||only==0){t=now();conv(w,h,c,k,out,in,f);printf("conv %.2f %lx\n",now()-t,sum(out,4ul*w*(h-2)*k));}
    static unsigned char *a,*b; static int *o; int n=20000,m=2000;
    if(!a){a=malloc((size_t)n*m);b=malloc((size_t)n*m);o=malloc(4ul*n);for(size_t i=0;i<(size_t)n*m;i++)a[i]=(i*2654435761u)>>13; memset(b,0,(size_t)n*m);}
    if(only<0||only==1){t=now();entropy(n,m,a,o);printf("entropy %.2f %lx\n",now()-t,sum(o,4ul*n));}
    if(only<0||only==2){t=now();hash(n*m/4,b,a);printf("hash %.2f %lx\n",now()-t,sum(b,(size_t)n*m));}
    static double *x,*y; int R=4000,M=4000; if(!x){x=malloc(8ul*R*M);y=malloc(8ul*R*M);for(size_t i=0;i<(size_t)R*M;i++)x[i]=i,y[i]=0;}
    if(only<0||only==3){t=now();rows(R,M,y,x);printf("rows %.2f %lx\n",now()-t,sum(y,8ul*R*M));}
    static struct p *p,*q; int P=400000; if(!p){p=malloc(P*sizeof*p);q=malloc(P*sizeof*q);for(int i=0;i<P;i++){for(int d=0;d<3;d++)p[i].x[d]=i*0.001+d,p[i].v[d]=d;p[i].id=i;} memset(q,0,P*sizeof*q);}
    if(only<0||only==4){t=now();bodies(P,q,p);printf("bodies %.2f %lx\n",now()-t,sum(q,P*sizeof*q));}
  }
}
